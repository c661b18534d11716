//! The type of the flow.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use crate::flow_from::ast::{Broken, FlowFrom};
use crate::flow_from::model::{Model, Need, NeedKind};
use crate::reported;

pub(crate) fn expand(flow: &FlowFrom, model: &Model) -> TokenStream {
    let name = flow
        .name
        .clone()
        .unwrap_or_else(|| Ident::new(&model.name, Span::call_site()));
    let Some((first, others)) = model.errors.split_first() else {
        return definition(flow, model, &name);
    };
    let span = flow.path.span();
    let first = quote_spanned!(span=> ::core::compile_error!(#first));
    let wrong = wrong(&flow.visibility, &name, &first);
    let others = reported::errors(others, span);
    // The crate is compiled again when the file changes.
    let text = included(model);
    quote!(#wrong #others const _: &::core::primitive::str = #text;)
}

pub(crate) fn broken(broken: &Broken) -> TokenStream {
    let error = broken.error.to_compile_error();
    match &broken.name {
        Some(name) => {
            // Without its semicolon, it is an expression.
            let is_semicolon =
                |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ';');
            let error = error.into_iter().filter(|token| !is_semicolon(token));
            wrong(&broken.visibility, name, &error.collect())
        }
        None => error,
    }
}

/// A flow whose type has an error in it. rustc reports nothing that follows from such a type, so uses of the flow are no
/// further errors.
fn wrong(visibility: &Visibility, name: &Ident, error: &TokenStream) -> TokenStream {
    let services = format_ident!("{name}Services");
    quote! {
        #[allow(dead_code, missing_docs)]
        #visibility type #name = [(); #error];
        // An associated type, so that a literal of it is not an error either.
        #[allow(dead_code, missing_docs)]
        #visibility type #services = <#name as ::core::str::FromStr>::Err;
    }
}

fn included(model: &Model) -> TokenStream {
    let file_path = model.file.as_ref().and_then(|file| file.to_str());
    file_path.map_or_else(|| quote!(""), |file| quote!(::core::include_str!(#file)))
}

fn definition(flow: &FlowFrom, model: &Model, name: &Ident) -> TokenStream {
    let FlowFrom {
        runtime,
        attributes,
        visibility,
        path,
        ..
    } = flow;
    let services = format_ident!("{name}Services");
    let file = path.value();
    let title = format!("The graph `{}` of `{file}`.\n\n{}", model.id, model.diagram);
    let text = included(model);
    let warnings = &model.warnings;
    let files = (!model.included.is_empty()).then(|| {
        let (paths, files): (Vec<_>, Vec<_>) = model
            .included
            .iter()
            .map(|(path, file)| (path, file))
            .unzip();
        quote!(.including([#((#paths, ::core::include_str!(#files))),*]))
    });
    let add = model.needs.iter().map(added);
    let (parameter, supplied) = if model.needs.is_empty() {
        (quote!(), quote!(#runtime::Services::new()))
    } else {
        (
            quote!(services: #services),
            quote!(#runtime::Services::new() #(#add)*),
        )
    };
    let services_type = (!model.needs.is_empty()).then(|| services_type(flow, model, &services));
    let conversions = conversions(runtime, name);
    let warnings_of_rustc = reported::warnings(warnings, attributes, path.span());
    quote! {
        #(#attributes)*
        #[doc = #title]
        #[derive(::core::clone::Clone)]
        #visibility struct #name(#runtime::__private::Flow);

        #services_type

        #[allow(dead_code)]
        impl #name {
            /// The text of the document.
            pub const SOURCE: &'static ::core::primitive::str = #text;

            /// What is probably not as the author of the document wants.
            pub const WARNINGS: &'static [&'static ::core::primitive::str] = &[#(#warnings),*];

            /// Makes the flow.
            ///
            /// # Errors
            ///
            /// If the settings of a node are wrong in a way that the compiler cannot see.
            pub fn new(#parameter) -> ::core::result::Result<Self, #runtime::LoadError> {
                #runtime::load_source(&#runtime::document::Source::new(#file, Self::SOURCE) #files, &#supplied).map(#name)
            }
        }

        #conversions

        #warnings_of_rustc
    }
}

/// The struct with a field for each model, tool and function that the document needs.
fn services_type(flow: &FlowFrom, model: &Model, services: &Ident) -> TokenStream {
    let (runtime, visibility) = (&flow.runtime, &flow.visibility);
    let fields = model.needs.iter().map(|need| field(need, runtime));
    let title = format!("What the graph `{}` needs.", model.id);
    let debug = opaque_debug(services);
    quote! {
        #[doc = #title]
        #[derive(::core::clone::Clone)]
        #visibility struct #services { #(#fields,)* }

        #debug
    }
}

/// `Debug` without the contents.
fn opaque_debug(name: &Ident) -> TokenStream {
    quote! {
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                __f.debug_struct(::core::stringify!(#name)).finish_non_exhaustive()
            }
        }
    }
}

/// `Debug` of the flow, and what makes it usable as the flow of the runtime.
fn conversions(runtime: &TokenStream, name: &Ident) -> TokenStream {
    let debug = opaque_debug(name);
    quote! {
        #debug

        impl ::core::ops::Deref for #name {
            type Target = #runtime::__private::Flow;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl ::core::convert::From<#name> for #runtime::__private::Flow {
            fn from(__flow: #name) -> Self {
                __flow.0
            }
        }
    }
}

fn field(need: &Need, runtime: &TokenStream) -> TokenStream {
    let field = format_ident!("{}", need.field);
    let Need { kind, name, .. } = need;
    let private = quote!(#runtime::__private);
    let (doc, ty) = match kind {
        NeedKind::Model => (
            format!("The model of provider `{name}`."),
            quote!(dyn #private::LlmClient),
        ),
        NeedKind::AnyModel => (
            "The model of nodes without a provider.".to_owned(),
            quote!(dyn #private::LlmClient),
        ),
        NeedKind::Tool => (format!("The tool `{name}`."), quote!(dyn #private::Tool)),
        NeedKind::Human => (
            "Who asks people.".to_owned(),
            quote!(dyn #private::HumanHandler),
        ),
        NeedKind::Function => (
            format!("The function of node `{name}`."),
            quote!(dyn #private::EnvelopeNode),
        ),
    };
    quote! {
        #[doc = #doc]
        pub #field: ::std::sync::Arc<#ty>
    }
}

fn added(need: &Need) -> TokenStream {
    let field = format_ident!("{}", need.field);
    let name = &need.name;
    match need.kind {
        NeedKind::Model => quote!(.model(#name, services.#field)),
        NeedKind::AnyModel => quote!(.any_model(services.#field)),
        NeedKind::Tool => quote!(.tool_as(#name, services.#field)),
        NeedKind::Human => quote!(.human(services.#field)),
        NeedKind::Function => quote!(.function(#name, services.#field)),
    }
}
