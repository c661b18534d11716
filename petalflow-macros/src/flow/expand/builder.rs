//! The builder of a flow with node values.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use super::cx::{Cx, Value};
use super::nodes::value_type;
use super::signatures;
use super::tokens::{head, number, numbered, respan};
use crate::flow::check::is_method;
use crate::paths::{keyword, local};
use crate::site::{self, quote};

/// The type of the builder. It has one `const` parameter per required value: whether the value is set.
pub(super) fn item(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        krate, vis, name, ..
    } = cx;
    let cfgs = cx.cfgs();
    let lints = cx.lints();
    let (builder, own) = (builder(cx), cx.own());
    let values = cx.values();
    let Generics { params, .. } = Generics::of(&required_values(&values));
    let vis = respan(vis.to_token_stream(), name.span());
    let keyword = keyword("struct", name);
    let end = quote_spanned!(name.span()=> ;);
    let doc = site::text(&builder_doc(name));
    quote! {
        #cfgs
        #[doc = #doc]
        #lints
        #[must_use = "nothing runs before `run`"]
        #vis #keyword #builder<#params>(#krate::Launch<#own>) #end
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

impl Value<'_> {
    pub(crate) fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// The parameter of the builder that is true if the value is set.
    fn given_parameter(&self) -> Ident {
        format_ident!(
            "HAS_{}",
            self.name.unraw().to_string().to_uppercase(),
            span = self.name.span()
        )
    }

    /// The name of its type in generated code.
    fn alias(&self) -> Ident {
        value_type(self.index, self.ty)
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
    fn make(&self) -> Ident {
        numbered("__default_", self.index)
    }
}

/// The items of a flow with node values.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let values = cx.values();
    let required = required_values(&values);
    let Generics { params, arguments } = Generics::of(&required);
    let code = FlowCode {
        cx,
        params,
        arguments,
        name: cx.own(),
        builder: builder(cx),
        values: &values,
        required: &required,
    };
    let defaults = code.defaults();
    let given = code.given_traits();
    let traits = code.traits();
    let new = code.new_function();
    let methods = code.methods();
    let run = if required.is_empty() {
        without_builder(cx, &values)
    } else {
        let run = run_is_rejected(cx);
        let subflow = code.without_values();
        quote!(#run #subflow)
    };
    quote!(#defaults #given #traits #new #methods #run)
}

/// The parameters of the builder, and the same as its arguments: one per required value.
pub(crate) struct Generics {
    pub(crate) params: TokenStream,
    pub(crate) arguments: TokenStream,
}

impl Generics {
    pub(crate) fn of(required: &[&Value<'_>]) -> Self {
        let given = required.iter().map(|value| value.given_parameter());
        Generics {
            params: params(required),
            arguments: quote!(#({ #given }),*),
        }
    }

    /// The arguments before any value is set.
    pub(crate) fn none(required: &[&Value<'_>]) -> TokenStream {
        let none = required.iter().map(|_| quote!(false));
        quote!(#(#none),*)
    }

    /// The arguments after this value is set.
    pub(crate) fn with(value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
        let arguments = required.iter().map(|other| {
            let given = other.given_parameter();
            if other.index == value.index {
                quote!(true)
            } else {
                quote!({ #given })
            }
        });
        quote!(#(#arguments),*)
    }
}

/// One parameter per value.
fn params(values: &[&Value<'_>]) -> TokenStream {
    let given = values.iter().map(|value| value.given_parameter());
    quote!(#(const #given: ::core::primitive::bool),*)
}

/// The values without a default.
pub(crate) fn required_values<'a>(values: &'a [Value<'a>]) -> Vec<&'a Value<'a>> {
    values.iter().filter(|value| value.is_required()).collect()
}

/// The parts of the code of a flow with node values.
struct FlowCode<'a> {
    cx: &'a Cx<'a>,
    /// The type of the flow.
    name: TokenStream,
    /// The type of the builder, without its arguments.
    builder: Ident,
    /// The parameters of the builder, and the same as its arguments.
    params: TokenStream,
    arguments: TokenStream,
    values: &'a [Value<'a>],
    required: &'a [&'a Value<'a>],
}

impl FlowCode<'_> {
    /// The functions that make the defaults.
    fn defaults(&self) -> TokenStream {
        let defaults = self.values.iter().filter_map(|value| {
            let (make, ty, expr) = (value.make(), value.alias(), value.default?);
            Some(quote_spanned!(expr.span()=> fn #make() -> #ty { #expr }))
        });
        defaults.collect()
    }

    /// A trait for each required value, with its message, and its implementation for the builders that have the value.
    fn given_traits(&self) -> TokenStream {
        let builder = &self.builder;
        let given = self.required.iter().map(|value| {
            let others = self.required.iter().filter(|other| other.index != value.index);
            let given = self.given_trait(value);
            let params = params(&others.copied().collect::<Vec<_>>());
            let arguments = Generics::with(value, self.required);
            let name = value.name.unraw();
            let message = site::text(&format!(
                "the node value `{name}` of `{}` was not given",
                self.cx.name
            ));
            let label = site::text(&format!("`{name}` is missing"));
            let note = site::text(&format!(
                "give it with `.{name}(..)` before this; for a sub-flow, with `values: |flow| flow.{name}(..)` beside `in` and `out`"
            ));
            quote! {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
                pub trait #given {}
                impl<#params> #given for #builder<#arguments> {}
            }
        });
        given.collect()
    }

    fn given_trait(&self, value: &Value<'_>) -> Ident {
        let value = value.name.unraw().to_string();
        let mut words = String::new();
        for word in value.split('_') {
            let mut letters = word.chars();
            words.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            words.push_str(letters.as_str());
        }
        format_ident!("{}Has{words}", self.cx.name, span = site::span())
    }

    /// The flow without its values is no sub-flow. The bounds, which never hold, say which value is missing: on a reference with
    /// any lifetime, because rustc reports other bounds that are false here.
    fn without_values(&self) -> TokenStream {
        let name = &self.name;
        let given = self.required.iter().map(|value| self.given_trait(value));
        quote! {
            #[automatically_derived]
            impl __petalflow::Subflow for #name where #(for<'any> &'any #name: #given),* {
                fn fresh() -> Self {
                    ::core::unreachable!()
                }
            }
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
            ..
        } = self;
        let text_of_builder = site::text(&self::builder(cx).to_string());
        quote! {
            #[automatically_derived]
            impl<#params> ::core::clone::Clone for #builder<#arguments> {
                fn clone(&self) -> Self {
                    #builder(::core::clone::Clone::clone(&self.0))
                }
            }
            #[automatically_derived]
            impl<#params> ::core::fmt::Debug for #builder<#arguments> {
                fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    __f.debug_tuple(#text_of_builder).field(&self.0).finish()
                }
            }
            #[automatically_derived]
            impl<#params> __petalflow::HasFlow for #builder<#arguments> {
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
            cx, name, builder, ..
        } = self;
        let krate = cx.krate;
        let none_given = Generics::none(self.required);
        quote! {
            #[allow(private_interfaces, private_bounds)]
            impl #name {
                /// A launch of the flow, for node values, limits, managed values and middleware.
                pub fn new() -> #builder<#none_given> {
                    #builder(#krate::Launch::new(Self { values: __petalflow::NodeValues::none() }))
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
            ..
        } = self;
        let state = cx.state;
        // `check` reports a name that is also another method of the builder.
        let settable = self.values.iter().filter(|value| !is_method(value.name));
        let setters = settable.map(|value| setter(cx, value, self.required));
        let given = self.required.iter().map(|value| self.given_trait(value));
        let bounds = quote!(#(Self: #given,)*);
        let fill = self.fill();
        let at = cx.name.span();
        let head = |tokens| head(tokens, at);
        let run = head(
            quote!(pub fn run(self, __input: impl __petalflow::InputOf<#state>) -> __petalflow::Run<#name> where #bounds),
        );
        let store = head(quote! {
            pub fn store<ThreadStore>(self, __store: &ThreadStore) -> __petalflow::Threads<#name>
            where
                #name: __petalflow::KeptBy<ThreadStore>,
                #bounds
        });
        let launch = head(quote!(pub fn launch(self) -> __petalflow::Launch<#name> where #bounds));
        quote! {
            use __petalflow::forward_launch;
            #[allow(private_interfaces, private_bounds, dead_code, unreachable_pub)]
            impl<#params> #builder<#arguments> {
                #(#setters)*

                forward_launch! {
                    [__supersteps, __nodes, __time, __token, __value, __provider, __cache, __layer] #name, #state
                }

                /// Runs the flow from this input: the keys marked `input`, or the value alone if there is one such key.
                #run {
                    self.0.edit(#fill).run(__input)
                }

                /// The threads of the flow in a store: `Launch::store` with all node values.
                #store {
                    __petalflow::KeptBy::threads(self.0.edit(#fill), __store)
                }

                /// The launch with all node values, for several runs.
                #launch {
                    self.0.edit(#fill)
                }
            }
        }
    }

    /// A closure that sets the values that have a default and are not set.
    fn fill(&self) -> TokenStream {
        let defaulted = self.values.iter().filter(|value| !value.is_required());
        let fill = defaulted.map(|value| {
            let (at, make) = (number(value.at), value.make());
            quote!(__flow.values.fill(#at, #make);)
        });
        quote!(|__flow| { let _ = &__flow; #(#fill)* })
    }
}

/// A flow without required node values runs without a builder, and can be a sub-flow.
fn without_builder(cx: &Cx<'_>, values: &[Value<'_>]) -> TokenStream {
    let given = local("values");
    let name = cx.own();
    let input = local("input");
    let run = signatures::run_with_defaults(cx, &input);
    let defaults = values.iter().map(|value| {
        let (at, make) = (number(value.at), value.make());
        quote!(#given.set(#at, #make());)
    });
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                let mut #given = __petalflow::NodeValues::none();
                #(#defaults)*
                Self { values: #given }
            }
        }
        #run
    }
}

/// `run` of a flow with required node values. A bound that never holds rejects every call with a message.
fn run_is_rejected(cx: &Cx<'_>) -> TokenStream {
    let name = cx.own();
    let run = quote!(pub fn run<I>(_: I) -> __petalflow::Run<Self> where Self: __petalflow::RunsAtOnce<I>);
    let run = head(run, cx.name.span());
    quote! {
        #[allow(private_interfaces, private_bounds, dead_code, unreachable_pub)]
        impl #name {
            #[doc(hidden)]
            #run {
                ::core::unreachable!()
            }
        }
    }
}

fn setter(cx: &Cx<'_>, value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
    let (name, ty, at) = (value.name, value.alias(), number(value.at));
    let builder = builder(cx);
    let result = if value.is_required() {
        let bits = Generics::with(value, required);
        quote!(#builder<#bits>)
    } else {
        quote!(Self)
    };
    let doc = site::text(&value.doc());
    quote! {
        #[doc = #doc]
        pub fn #name(self, __value: #ty) -> #result {
            #builder(self.0.edit(|__flow| __flow.values.set(#at, __value)))
        }
    }
}
