//! The builder of a flow with node values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use super::cx::{Cx, Value};
use super::tokens::numbered;
use crate::flow::check::is_method;
use crate::paths::Name;
use crate::template::template;
use crate::tokens::{each, list};

/// The field of the flow's type. The type is in a module in which the user's types have no names, so its values have a type that
/// `__Holds` names outside of the module.
pub(super) fn fields() -> TokenStream {
    quote!(pub(super) values: <Self as __Holds>::Values)
}

/// The type of the builder. It has one `const` parameter per required value: whether the value is set. It is in a module that is
/// imported with `*`: if two builders have one name, rustc reports only the two flows.
pub(super) fn item(cx: &Cx<'_>, reach: &TokenStream) -> TokenStream {
    let name = cx.name;
    let builder = builder(cx);
    let values = cx.values();
    let Generics { params, .. } = Generics::of(&required(&values));
    let doc = builder_doc(name);
    template! { [name, doc, reach, builder, params]
        #[doc(hidden)]
        pub(super) trait __Holds {
            type Values;
        }
        // With a lifetime, because rustc reports a bound that never holds. The error is reported at the user's type.
        #[doc(hidden)]
        pub(super) trait __Launches<'a> {
            type Launch;
        }
        pub(super) mod builder {
            use super::{#name, __Launches};
            #[doc = #doc]
            #[must_use = "nothing runs before `run`"]
            #[allow(unreachable_pub, private_bounds, clippy::redundant_pub_crate)]
            #reach struct #builder<#params>(
                pub(in super::super) <#name as __Launches<'static>>::Launch,
            )
            where
                for<'a> #name: __Launches<'a>;
        }
    }
}

/// The documentation of the builder of this flow.
pub(crate) fn builder_doc(flow: &Ident) -> String {
    format!(
        "The settings of a run of [`{flow}`]: node values, limits, managed values and middleware."
    )
}

fn builder(cx: &Cx<'_>) -> Ident {
    format_ident!("{}Builder", cx.name)
}

/// The paths of the flow's type and of the builder's type. The user's items cannot shadow them, and rustdoc shows their last
/// segments.
fn paths(cx: &Cx<'_>) -> (TokenStream, TokenStream) {
    let module = cx.module();
    let name = cx.name;
    let builder = builder(cx);
    (quote!(#module::#name), quote!(#module::builder::#builder))
}

impl Value<'_> {
    pub(crate) fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// The parameter of the builder that is true if the value is set.
    fn given(&self) -> Ident {
        format_ident!(
            "HAS_{}",
            self.name.unraw().to_string().to_uppercase(),
            span = self.name.span()
        )
    }

    /// The documentation of the method that sets it.
    pub(crate) fn doc(&self) -> String {
        let name = self.name.unraw();
        if self.is_required() {
            format!("Sets the node value `{name}`. It has no default.")
        } else {
            format!("Sets the node value `{name}`, which replaces its default.")
        }
    }

    /// The function that makes the default value.
    fn make(&self) -> Name {
        numbered("__default_", self.index)
    }
}

/// The items of a flow with node values.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let values = cx.values();
    let required = required(&values);
    let (name, builder) = paths(cx);
    let Generics { params, arguments } = Generics::of(&required);
    let code = FlowCode {
        cx,
        params,
        arguments,
        exists: cx.exists(),
        name,
        builder,
        values: &values,
        required: &required,
    };
    let storage = code.storage();
    let markers = code.markers();
    let traits = code.traits();
    let new = code.new_function();
    let methods = code.methods();
    let run = if required.is_empty() {
        without_builder(cx, &values)
    } else {
        run_is_rejected(cx)
    };
    quote!(#storage #markers #traits #new #methods #run)
}

/// The parameters of the builder, and the same as its arguments: one per required value.
pub(crate) struct Generics {
    pub(crate) params: TokenStream,
    pub(crate) arguments: TokenStream,
}

impl Generics {
    pub(crate) fn of(required: &[&Value<'_>]) -> Self {
        Generics {
            params: params(required),
            arguments: list(required, &|value| {
                let given = value.given();
                quote!({ #given })
            }),
        }
    }

    /// The arguments before any value is set.
    pub(crate) fn none(required: &[&Value<'_>]) -> TokenStream {
        list(required, &|_| quote!(false))
    }

    /// The arguments after this value is set.
    pub(crate) fn with(value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
        list(required, &|other| {
            let given = other.given();
            if other.index == value.index {
                quote!(true)
            } else {
                quote!({ #given })
            }
        })
    }
}

/// One parameter per value.
fn params(values: &[&Value<'_>]) -> TokenStream {
    list(values, &|value| {
        let given = value.given();
        quote!(const #given: bool)
    })
}

/// The values without a default.
pub(crate) fn required<'a>(values: &'a [Value<'a>]) -> Vec<&'a Value<'a>> {
    let mut required = Vec::new();
    for value in values {
        if value.is_required() {
            required.push(value);
        }
    }
    required
}

/// The parts of the code of a flow with node values.
struct FlowCode<'a> {
    cx: &'a Cx<'a>,
    /// The type of the flow.
    name: TokenStream,
    /// The type of the builder, without its arguments.
    builder: TokenStream,
    /// The parameters of the builder, and the same as its arguments.
    params: TokenStream,
    arguments: TokenStream,
    exists: TokenStream,
    values: &'a [Value<'a>],
    required: &'a [&'a Value<'a>],
}

impl FlowCode<'_> {
    /// `a: value, b: value,`: the fields of the values, all with this value.
    fn fields(&self, value: &dyn Fn(&Value<'_>) -> TokenStream) -> TokenStream {
        list(self.values, &|field| {
            let name = field.name;
            let value = value(field);
            quote!(#name: #value)
        })
    }

    /// The type that stores the values, and the functions that make the defaults.
    fn storage(&self) -> TokenStream {
        let FlowCode {
            cx, name, exists, ..
        } = self;
        let krate = cx.krate;
        let module = cx.module();
        let fields = self.fields(&|value| {
            let ty = value.ty;
            quote!(::core::option::Option<::std::sync::Arc<#ty>>)
        });
        let defaults = each(self.values, &|value| match value.default {
            Some(expr) => {
                let make = value.make();
                let ty = value.ty;
                quote_spanned!(expr.span()=> fn #make() -> #ty { #expr })
            }
            None => TokenStream::new(),
        });
        template! { [fields, module, name, exists, krate, defaults]
            // `<>`: see `no_generics`.
            struct __Values <> {
                #fields
            }
            impl #module::__Holds for #name {
                type Values = __Values;
            }
            impl #module::__Launches<'_> for #name #exists {
                type Launch = #krate::Launch<#name>;
            }
            #defaults
        }
    }

    /// The marker types, and for each of them the builders with that value.
    fn markers(&self) -> TokenStream {
        let (builder, exists) = (&self.builder, &self.exists);
        let mut types = TokenStream::new();
        for value in self.required {
            let marker = marker(value);
            types.extend(quote!(pub enum #marker {}));
        }
        let mut given = TokenStream::new();
        for value in self.required {
            let mut others = Vec::new();
            for other in self.required {
                if other.index != value.index {
                    others.push(*other);
                }
            }
            let marker = marker(value);
            let params = params(&others);
            let arguments = Generics::with(value, self.required);
            given.extend(quote!(impl<#params> __petalflow::HasValue<__values::#marker> for #builder<#arguments> #exists {}));
        }
        template! { [types, given]
            #[allow(non_camel_case_types)]
            mod __values {
                #types
            }
            #given
        }
    }

    /// `Clone` and `Debug` for both types, and `HasFlow` for the builder.
    fn traits(&self) -> TokenStream {
        let FlowCode {
            cx,
            name,
            builder,
            params,
            arguments,
            exists,
            ..
        } = self;
        let fields = self.fields(&|value| {
            let name = value.name;
            quote!(::core::clone::Clone::clone(&self.values.#name))
        });
        let text = cx.name.to_string();
        let text_of_builder = self::builder(cx).to_string();
        template! { [name, fields, text, params, builder, arguments, exists, text_of_builder]
            #[automatically_derived]
            impl ::core::clone::Clone for #name {
                fn clone(&self) -> Self {
                    Self { values: __Values { #fields } }
                }
            }
            #[automatically_derived]
            impl ::core::fmt::Debug for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text).finish_non_exhaustive()
                }
            }
            #[automatically_derived]
            impl<#params> ::core::clone::Clone for #builder<#arguments> #exists {
                fn clone(&self) -> Self {
                    #builder(::core::clone::Clone::clone(&self.0))
                }
            }
            #[automatically_derived]
            impl<#params> ::core::fmt::Debug for #builder<#arguments> #exists {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_tuple(#text_of_builder).field(&self.0).finish()
                }
            }
            #[automatically_derived]
            impl<#params> __petalflow::HasFlow for #builder<#arguments> #exists {
                type Flow = #name;
                fn flow(&self) -> &#name {
                    __petalflow::HasFlow::flow(&self.0)
                }
            }
        }
    }

    /// `new` of the flow.
    fn new_function(&self) -> TokenStream {
        let FlowCode {
            cx,
            name,
            builder,
            exists,
            ..
        } = self;
        let krate = cx.krate;
        let fields = self.fields(&|_| quote!(::core::option::Option::None));
        let none_given = Generics::none(self.required);
        template! { [name, exists, builder, none_given, krate, fields]
            #[allow(private_interfaces, private_bounds)]
            impl #name #exists {
                /// A launch of the flow, for node values, limits, managed values and middleware.
                pub fn new() -> #builder<#none_given> {
                    #builder(#krate::Launch::new(Self { values: __Values { #fields } }))
                }
            }
        }
    }

    /// The methods of the builder.
    fn methods(&self) -> TokenStream {
        let FlowCode {
            cx,
            name,
            builder,
            params,
            arguments,
            exists,
            ..
        } = self;
        let Cx { krate, state, .. } = cx;
        // `check` reports a name that is also another method of the builder.
        let mut setters = TokenStream::new();
        for value in self.values {
            if is_method(value.name) {
                continue;
            }
            setters.extend(setter(cx, value, self.required));
        }
        let mut bounds = TokenStream::new();
        for value in self.required {
            let marker = marker(value);
            bounds.extend(quote!(Self: __petalflow::HasValue<__values::#marker>,));
        }
        let fill = self.fill();
        template! { [params, builder, arguments, exists, setters, name, state, krate, bounds, fill]
            #[allow(private_interfaces, private_bounds)]
            impl<#params> #builder<#arguments> #exists {
                #setters

                __petalflow::forward_launch! { #name, #state }

                /// Runs the flow from this input: the keys marked `input`, or the value alone if there is one such key.
                pub fn run(self, input: impl #krate::state::InputOf<#state>) -> #krate::Run<#name> where #bounds {
                    self.0.edit(#fill).run(input)
                }

                /// The threads of the flow in a store: `Launch::store` with all node values.
                pub fn store<S>(self, store: &S) -> #krate::thread::Threads<#name>
                where
                    #name: __petalflow::KeptBy<S>,
                    #bounds
                {
                    __petalflow::KeptBy::threads(self.0.edit(#fill), store)
                }

                /// The launch with all node values, for several runs.
                pub fn launch(self) -> #krate::Launch<#name> where #bounds {
                    self.0.edit(#fill)
                }
            }
        }
    }

    /// A closure that sets the values that have a default and are not set.
    fn fill(&self) -> TokenStream {
        let mut fill = TokenStream::new();
        for value in self.values {
            if value.is_required() {
                continue;
            }
            let field = value.name;
            let make = value.make();
            fill.extend(template! { [field, make]
                if flow.values.#field.is_none() {
                    flow.values.#field = ::core::option::Option::Some(::std::sync::Arc::new(#make()));
                }
            });
        }
        quote!(|flow| { let _ = &flow; #fill })
    }
}

/// The type with the name of a required value. Errors name a missing value by its type.
fn marker(value: &Value<'_>) -> Ident {
    Ident::new_raw(&value.name.unraw().to_string(), Span::call_site())
}

/// A flow without required node values runs without a builder, and can be a sub-flow.
fn without_builder(cx: &Cx<'_>, values: &[Value<'_>]) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let fields = list(values, &|value| {
        let field = value.name;
        let make = value.make();
        quote!(#field: ::core::option::Option::Some(::std::sync::Arc::new(#make())))
    });
    let exists = cx.exists();
    template! { [name, fields, exists, krate, state]
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self { values: __Values { #fields } }
            }
        }
        #[automatically_derived]
        impl __petalflow::Subflow for #name #exists {
            fn fresh() -> Self {
                ::core::default::Default::default()
            }
        }
        impl #name #exists {
            /// Runs the flow from this input with the default settings. [`new`](Self::new) has other settings.
            #[allow(clippy::self_named_constructors)]
            pub fn run(input: impl #krate::state::InputOf<#state>) -> #krate::Run<Self> {
                Self::new().run(input)
            }
        }
    }
}

/// `run` of a flow with required node values. A bound that never holds rejects every call with a message.
fn run_is_rejected(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    let name = cx.own();
    let exists = cx.exists();
    template! { [name, exists, krate]
        #[allow(private_interfaces, private_bounds)]
        impl #name #exists {
            #[doc(hidden)]
            pub fn run<I>(_: I) -> #krate::Run<Self> where Self: __petalflow::RunsAtOnce<I> {
                ::core::unreachable!()
            }
        }
    }
}

fn setter(cx: &Cx<'_>, value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
    let Value { name, ty, .. } = value;
    let (_, builder) = paths(cx);
    let result = if value.is_required() {
        let bits = Generics::with(value, required);
        quote!(#builder<#bits>)
    } else {
        quote!(Self)
    };
    let doc = value.doc();
    template! { [doc, name, ty, result, builder]
        #[doc = #doc]
        pub fn #name(self, #name: #ty) -> #result {
            #builder(self.0.edit(|flow| flow.values.#name = ::core::option::Option::Some(::std::sync::Arc::new(#name))))
        }
    }
}
