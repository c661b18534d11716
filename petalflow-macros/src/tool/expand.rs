//! The code of a tool. It cannot fail.

use std::iter;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, LitStr, Meta, Type, parse_quote_spanned};

use super::ast::{Confirm, ToolArgs};
use super::model::{Param, Returned, Source, Tool};
use crate::attributes;
use crate::node::ast::NodeFn;
use crate::node::expand::marker;
use crate::node::expand::params::is_context;
use crate::paths::{Runtime, impl_at, local, local_at, name};
use crate::placeholder;
use crate::site::{self, quote};

/// The tool of a function: `struct search {}` and its implementations.
pub(crate) fn tool(
    args: &ToolArgs,
    function: &NodeFn,
    tool: &Tool,
    runtime: &Runtime,
) -> TokenStream {
    let NodeFn { attrs, sig, .. } = function;
    let ident = &sig.ident;
    let cfgs = attributes::tokens(attrs, "cfg");
    let docs = attributes::tokens(attrs, "doc");
    let deprecated = attributes::tokens(attrs, "deprecated");
    let lints = attributes::lints(attrs);
    let text = args.name_of(ident);
    let doc = site::text(&format!("The tool `{text}`, as agents name it."));
    let text = site::text(&text);
    let cx = Cx {
        args,
        tool,
        runtime,
        text: &text,
    };
    let usable = tool.usable;
    let undescribed = attributes::with_name(attrs, "doc").is_empty() && args.description.is_none();
    let warning = undescribed.then(|| without_description(ident));
    let marker = marker(function);
    let arguments = usable.then(|| cx.arguments());
    let handles = usable.then(|| cx.handles());
    let confirm_check = usable.then(|| cx.confirm_check());
    let implementation = if usable {
        cx.implementation(&attributes::with_name(attrs, "doc"))
    } else {
        placeholder::tool(&tool.call, runtime)
    };
    let generated = attributes::generated();
    quote! {
        #cfgs
        #docs
        #[doc = ""]
        #[doc = #doc]
        #deprecated
        #lints
        #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations, unreachable_pub, clippy::empty_structs_with_brackets)]
        #marker
        #cfgs
        #lints
        #generated
        const _: () = {
            #warning
            #arguments
            #handles
            #confirm_check
            #implementation
            #[automatically_derived]
            impl #runtime::tool::FnTool for #ident {
                const NAME: &'static ::core::primitive::str = #text;
                const TOOL: Self = Self {};
            }
        };
    }
}

/// A warning at the name of the tool: the use of a constant that is deprecated is the only one that a macro can make.
fn without_description(ident: &Ident) -> TokenStream {
    let constant = Ident::new("tool_without_description", ident.span());
    quote! {
        #[allow(non_upper_case_globals)]
        #[deprecated(note = "a model decides by the description of a tool when to call it: write a doc comment, `/// What the tool does.`, or `#[tool(description = \"..\")]`")]
        const #constant: () = ();
        let _ = #constant;
    }
}

struct Cx<'a> {
    args: &'a ToolArgs,
    tool: &'a Tool,
    runtime: &'a Runtime,
    /// The name of the tool.
    text: &'a Literal,
}

impl Cx<'_> {
    /// The struct of a call's arguments.
    ///
    /// It is generic over the types of its fields. A constant names each type once, so that a type that cannot be an argument is one
    /// error. A field with attributes of serde or schemars has its own type, because `default` and others need more bounds. A field
    /// with `#[cfg]` also has its own type, because a list of type arguments cannot have attributes.
    fn arguments(&self) -> TokenStream {
        let Cx { runtime, tool, .. } = self;
        let mut params = Vec::new();
        let mut types = Vec::new();
        let mut fields = Vec::new();
        for (index, param, attrs) in tool.arguments() {
            let Param {
                ident, ty, cfgs, ..
            } = param;
            let plain = cfgs.is_empty() && attrs.iter().all(|attr| attr.path().is_ident("doc"));
            if plain {
                let param = format_ident!("__P{index}", span = site::span());
                fields.push(quote!(#(#attrs)* #ident: #param));
                params.push(param);
                types.push(ty);
            } else {
                fields.push(quote!(#cfgs #(#attrs)* #ident: #ty));
            }
        }
        let path = quote!(#runtime).to_string().replace(' ', "");
        let text = |text: String| LitStr::new(&text, site::span());
        let serde = text(format!("{path}::__private::tool::serde"));
        let schemars = text(format!("{path}::__private::tool::schemars"));
        let bound = params
            .iter()
            .map(|param| format!("{param}: {path}::tool::ToolArgument,"));
        let bound = text(bound.collect());
        // At the name of the tool, where rustc shows the bounds.
        let function = format_ident!("arguments_of_{}", name(&tool.call), span = tool.call.span());
        let bounds = params.iter().map(|param| {
            let bound = runtime.respan(&tool.call, quote!(#runtime::tool::ToolArgument));
            let param = Ident::new(&param.to_string(), tool.call.span());
            quote!(#param: #bound)
        });
        let deny = (!self.flattens()).then(|| quote!(#[serde(deny_unknown_fields)]));
        quote! {
            // The derive of schemars calls `into`, which is not in scope with `no_implicit_prelude`.
            #[allow(unused_imports)]
            use ::core::convert::Into as _;
            #[derive(#runtime::__private::tool::serde::Deserialize, #runtime::__private::tool::schemars::JsonSchema)]
            #[serde(crate = #serde, bound = #bound)]
            #deny
            #[schemars(crate = #schemars, bound = #bound)]
            struct __Arguments<#(#params),*> {
                #(#fields,)*
            }
            const fn #function<#(#bounds),*>() -> #runtime::__private::tool::Arguments<__Arguments<#(#params),*>> {
                // If a derive has failed, it has reported why.
                #[allow(unused_imports)]
                use #runtime::__private::tool::NoArguments as _;
                #runtime::__private::tool::Arguments::<__Arguments<#(#params),*>>::NEW
            }
            const __ARGUMENTS: #runtime::__private::tool::Arguments<__Arguments<#(#types),*>> = #function::<#(#types),*>();
        }
    }

    /// Whether a parameter is flattened. Then unknown arguments are not rejected.
    fn flattens(&self) -> bool {
        self.tool.arguments().any(|(_, _, attrs)| {
            attrs.iter().any(|attr| match &attr.meta {
                Meta::List(list) => list
                    .tokens
                    .clone()
                    .into_iter()
                    .any(|token| token.to_string() == "flatten"),
                _ => false,
            })
        })
    }

    fn implementation(&self, docs: &[&Attribute]) -> TokenStream {
        let Cx {
            args,
            runtime,
            tool,
            text,
        } = self;
        let ident = &tool.call;
        let lines: Vec<_> = match &args.description {
            Some(text) => vec![text.to_token_stream()],
            None => docs.iter().filter_map(|attr| line(attr)).collect(),
        };
        let description = quote!(&[#(#lines),*]);
        let (long_running, deferred) = (site::flag(args.long_running), site::flag(args.deferred));
        let confirm = self.confirm();
        let require = self.require();
        let arguments = local("arguments");
        let cx = local("cx");
        let attempt = self.attempt(&arguments, &cx);
        let mut policy = None;
        let call = if args.retry.is_none() && args.timeout.is_none() {
            attempt
        } else {
            let retry = args.retry.clone().unwrap_or_else(|| quote!(&[]));
            let timeout = args.timeout.as_ref().map_or_else(
                || quote!(::core::option::Option::None),
                |timeout| quote!(::core::option::Option::Some(#timeout)),
            );
            policy = Some(quote!(const __RETRY: &'static [#runtime::policy::Retry] = #retry;));
            quote! {
                #runtime::__private::tool::attempts(#text, __RETRY, #timeout, #arguments, #cx, move |#arguments| #attempt)
            }
        };
        // The call's type has the span of the tool's name: rustc reports there that it is not `Send`.
        let boxed = quote_spanned!(ident.span()=> ::std::boxed::Box::pin(#call));
        let tool = quote! {
            #[automatically_derived]
            impl #runtime::tool::Tool for #ident {
                fn spec(&self) -> &::std::sync::Arc<#runtime::tool::ToolSpec> {
                    static __SPEC: ::std::sync::OnceLock<::std::sync::Arc<#runtime::tool::ToolSpec>> = ::std::sync::OnceLock::new();
                    __SPEC.get_or_init(|| {
                        __ARGUMENTS.spec(#text, #description, #long_running, #deferred)
                    })
                }
                // What `#[async_trait]` makes of the trait's method.
                fn call<'__a, '__b, '__c>(
                    &'__a self,
                    #arguments: #runtime::__private::tool::Value,
                    #cx: &'__b #runtime::tool::ToolContext,
                ) -> #runtime::middleware::BoxFuture<'__c, ::core::result::Result<#runtime::__private::tool::Value, #runtime::tool::ToolError>>
                where
                    '__a: '__c,
                    '__b: '__c,
                    Self: '__c,
                {
                    #policy
                    #boxed
                }
                #confirm
                #require
            }
        };
        impl_at(ident.span(), tool)
    }

    /// Constants that fail for a parameter that does not come from the run. What else takes it depends on them, so that this is one
    /// error.
    fn handles(&self) -> TokenStream {
        let Cx { runtime, tool, .. } = self;
        let params = tool.params.iter().enumerate();
        let taken = params
            .filter(|(_, param)| matches!(param.source, Source::Run) && !is_context(&param.ty));
        let handles = taken.map(|(index, Param { ty, cfgs, .. })| {
            let handle = quote!(#runtime::__private::tool::ToolHandle);
            let checked = runtime.item_of(ty, &handle, "from_context");
            let constant = handle_constant(index);
            quote! {
                #cfgs
                const #constant: ::core::primitive::usize = {
                    let _ = #checked;
                    0
                };
            }
        });
        handles.collect()
    }

    /// A function of `ToolHandle` for the parameter of this index.
    fn handle(&self, index: usize, ty: &Type, function: &str) -> TokenStream {
        let runtime = self.runtime;
        let constant = handle_constant(index);
        let function = Ident::new(function, site::span());
        quote!(<<#ty as #runtime::__private::Checked<#constant>>::Type as #runtime::__private::tool::ToolHandle>::#function)
    }

    /// `Tool::require`, if a parameter comes from the run.
    fn require(&self) -> Option<TokenStream> {
        let Cx { runtime, tool, .. } = self;
        let requirements = local("requirements");
        let params = tool.params.iter().enumerate();
        let taken = params
            .filter(|(_, param)| matches!(param.source, Source::Run) && !is_context(&param.ty));
        let mut required = taken.map(|(index, Param { ty, cfgs, .. })| {
            let require = self.handle(index, ty, "require");
            quote!(#cfgs #require(#requirements);)
        });
        let required = iter::once(required.next()?).chain(required);
        Some(quote! {
            fn require(&self, #requirements: &mut #runtime::node::Requirements<'_>) {
                #(#required)*
            }
        })
    }

    /// One attempt: a future.
    fn attempt(&self, arguments: &Ident, cx: &Ident) -> TokenStream {
        let Cx {
            args,
            runtime,
            tool,
            text,
        } = self;
        let pattern = self.pattern();
        let extracts = tool.params.iter().enumerate().filter_map(|(index, param)| {
            let Param { ty, cfgs, .. } = param;
            let value = value(index);
            let taken = match param.source {
                Source::Argument(_) => return None,
                Source::ToolContext => quote!(::core::clone::Clone::clone(#cx)),
                // The function has the type. rustc reports there that `Context` is something else, such as the trait of `anyhow`.
                Source::Run if is_context(ty) => {
                    let handle = quote!(#runtime::__private::tool::ToolHandle);
                    let inferred = parse_quote_spanned!(site::span()=> _);
                    let from_context =
                        runtime.respan(ty, runtime.item_of(&inferred, &handle, "from_context"));
                    let extracted =
                        quote!(#runtime::__private::tool::extracted(#text, #from_context(#cx))?);
                    return Some(quote!(#cfgs let #value = #extracted;));
                }
                Source::Run => {
                    let from_context = self.handle(index, ty, "from_context");
                    quote!(#runtime::__private::tool::extracted(#text, #from_context(#cx))?)
                }
            };
            Some(quote!(#cfgs let #value: #ty = #taken;))
        });
        let function = &tool.call;
        let values = tool.params.iter().enumerate().map(|(index, param)| {
            let value = value(index);
            let cfgs = &param.cfgs;
            quote!(#cfgs #value)
        });
        let call = quote!(#function(#(#values),*));
        let call = match (args.blocking.is_some(), tool.is_async) {
            (true, _) => quote!(#runtime::__private::tool::blocking(move || #call).await?),
            (false, true) => quote!(#call.await),
            (false, false) => call,
        };
        let returned = self.result_as_json(&call);
        quote! {
            async move {
                let #pattern = __ARGUMENTS.read(self, #arguments)?;
                #(#extracts)*
                #returned
            }
        }
    }

    /// `__Arguments { query: value0, .. }`
    fn pattern(&self) -> TokenStream {
        let fields = self.tool.arguments().map(|(index, param, _)| {
            let Param { ident, cfgs, .. } = param;
            let value = value(index);
            quote!(#cfgs #ident: #value)
        });
        quote!(__Arguments { #(#fields,)* .. })
    }

    /// The result of a call as JSON.
    fn result_as_json(&self, call: &TokenStream) -> TokenStream {
        let Cx {
            runtime,
            tool,
            text,
            ..
        } = self;
        let value = |ty: &Type| {
            let open = runtime.respan(ty, quote!(<));
            let rest = runtime.respan(ty, quote!(as #runtime::tool::ToolOutput>::into_value));
            let named = nameable(ty);
            quote!(#open #named #rest)
        };
        match &tool.output {
            Returned::Unit => quote! {
                #call;
                ::core::result::Result::Ok(#runtime::__private::tool::Value::Null)
            },
            Returned::Value(ty) => {
                let value = value(ty);
                quote!(#value(#call, #text))
            }
            Returned::Result(ty, error) => {
                let value = value(ty);
                let ok = local("ok");
                let wrong = local("wrong");
                let fails = quote!(#runtime::__private::tool::ToolFails);
                let failed = error.as_ref().map_or(quote!(#fails::failed), |error| {
                    let open = runtime.respan(error, quote!(<));
                    let rest = runtime.respan(error, quote!(as #fails>::failed));
                    let named = nameable(error);
                    quote!(#open #named #rest)
                });
                quote! {
                    match #call {
                        ::core::result::Result::Ok(#ok) => #value(#ok, #text),
                        ::core::result::Result::Err(#wrong) => ::core::result::Result::Err(#failed(#wrong)),
                    }
                }
            }
        }
    }

    /// A function that is never called, and fails to compile if the function of `confirm` takes the arguments by value. It comes
    /// before the call, whose error has the words of rustc.
    fn confirm_check(&self) -> Option<TokenStream> {
        let Some(Confirm::Predicate(path)) = &self.args.confirm else {
            return None;
        };
        // A list of types cannot have `#[cfg]`.
        if self
            .tool
            .arguments()
            .any(|(_, param, _)| !param.cfgs.is_empty())
        {
            return None;
        }
        let types = self.tool.arguments().map(|(_, param, _)| &param.ty);
        let private = quote!(__tool);
        let runtime = self.runtime;
        let check = Ident::new("check", site::span().located_at(path.span()));
        Some(quote! {
            #[allow(dead_code)]
            fn __confirm_check<'__x>() {
                use #runtime::__private::tool as #private;
                use #private::{ConfirmByReference as _, ConfirmByValue as _, ConfirmOtherwise as _};
                (&&&#private::ConfirmFunction::<'__x, _, (#(#types,)*)>::of(&#path)).#check();
            }
        })
    }

    /// `Tool::confirm`, unless the tool runs without confirmation.
    fn confirm(&self) -> Option<TokenStream> {
        let Cx { runtime, text, .. } = self;
        let arguments = local("arguments");
        let body = match self.args.confirm.as_ref()? {
            Confirm::Always => {
                quote!(::core::option::Option::Some(#runtime::__private::tool::question(#text)))
            }
            Confirm::Question(question) => {
                quote!(::core::option::Option::Some(::std::string::String::from(#question)))
            }
            Confirm::Predicate(path) => {
                let pattern = self.pattern();
                // The call has the span of the function's name: rustc reports there what it takes or returns instead.
                let at = path.span();
                let values = self.tool.arguments().map(|(index, param, _)| {
                    let value = value(index);
                    let cfgs = &param.cfgs;
                    let mut value = value;
                    value.set_span(value.span().located_at(at));
                    quote_spanned!(at=> #cfgs &#value)
                });
                let call = quote_spanned!(at=> #path(#(#values),*));
                let asks = runtime.respan(path, quote!(#runtime::tool::ToolConfirm::question));
                let question = quote_spanned!(at=> #asks(#call, #text));
                // Arguments that do not fit are refused by the call itself.
                quote! {
                    let ::core::option::Option::Some(#pattern) = __ARGUMENTS.peek(self, #arguments) else {
                        return ::core::option::Option::None;
                    };
                    #question
                }
            }
        };
        Some(quote! {
            #[allow(unused_variables)]
            fn confirm(&self, #arguments: &#runtime::__private::tool::Value) -> ::core::option::Option<::std::string::String> {
                #body
            }
        })
    }
}

/// The text of one line of a doc comment.
fn line(doc: &Attribute) -> Option<TokenStream> {
    match &doc.meta {
        Meta::NameValue(meta) => Some(meta.value.to_token_stream()),
        _ => None,
    }
}

/// The constant that checks the parameter of this index, if it comes from the run.
fn handle_constant(index: usize) -> Ident {
    format_ident!("__RUN_{index}")
}

/// The variable with the value of the parameter of this index.
fn value(index: usize) -> Ident {
    local_at("value", index)
}

/// The type, or `_` if it contains `impl Trait`.
fn nameable(ty: &Type) -> TokenStream {
    let tokens = ty.to_token_stream();
    if has_impl(tokens.clone()) {
        quote_spanned!(ty.span()=> _)
    } else {
        tokens
    }
}

fn has_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == "impl",
        proc_macro2::TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
}
