//! What rust-analyzer sees of a node: its function, its type, and the keys that its parameters name.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, TokenStreamExt as _, quote};
use syn::{Generics, Type};

use super::ast::NodeArgs;
use super::model::{Node, Returned, Source};
use crate::editor::{self, elsewhere};
use crate::errors::Errors;
use crate::paths::Runtime;
use crate::types;

/// The node whose code is generated.
pub(super) struct Cx<'a> {
    pub(super) args: &'a NodeArgs,
    pub(super) node: &'a Node,
    pub(super) runtime: &'a Runtime,
    /// The type that implements `Node`.
    pub(super) ty: TokenStream,
    pub(super) generics: Option<&'a Generics>,
}

/// The names of the options once more. `hygiene`: a span of the user.
pub(super) fn options(args: &TokenStream, hygiene: Span) -> TokenStream {
    let parsed = NodeArgs::parse(args.clone(), hygiene, &mut Errors::default());
    let runtime = Runtime::new(parsed.krate.as_ref());
    // The state comes first.
    let ends =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let options = args.clone().into_iter().skip_while(|token| !ends(token));
    let options = editor::options(&runtime, "NodeOptions", options.skip(1).collect());
    quote! {
        #[allow(warnings)]
        const _: () = { #options };
    }
}

/// The code without the spans of the user, but for the name of the type, and the names once more.
pub(super) fn node(cx: &Cx<'_>, code: TokenStream) -> TokenStream {
    let code = keep_type(code);
    let Some(state) = &cx.args.state else {
        return code;
    };
    let params = cx.node.params.iter();
    let keys = params.filter(|param| matches!(param.source, Source::Key(_)));
    let keys = keys.map(|param| &param.ident);
    let routes = routes(cx, state);
    quote! {
        #code
        #[allow(warnings)]
        const _: () = {
            fn keys(state: &#state) {
                #(let _ = &state.#keys;)*
            }
            #routes
        };
    }
}

/// The type that the node chooses a route with.
fn routes(cx: &Cx<'_>, state: &Type) -> Option<TokenStream> {
    let runtime = cx.runtime;
    let ty = elsewhere(cx.ty.clone());
    let generics = cx
        .generics
        .map(|generics| elsewhere(generics.to_token_stream()));
    let clause = cx
        .generics
        .map(|generics| elsewhere(generics.where_clause.to_token_stream()));
    let route = elsewhere(route(cx.node.output.as_ref()?)?.to_token_stream());
    let state = elsewhere(state.to_token_stream());
    Some(quote! {
        impl #generics #runtime::__private::editor::Chooses<#state> for #ty #clause {
            type Route = #route;
        }
    })
}

/// The last member of what is returned, without `Option`, `Result` and `Vec`.
fn route(output: &Returned) -> Option<&Type> {
    match output {
        Returned::Unit(_) => None,
        Returned::One(ty) => {
            let segment = types::last_segment(ty).filter(|segment| segment.ident == "Vec");
            let inner = segment.and_then(|segment| types::arguments(segment).first().copied());
            inner.or(Some(ty))
        }
        Returned::Tuple(_, members) => route(members.last()?),
        Returned::Wrapped(_, inner, _) => route(inner),
    }
}

/// The tokens elsewhere, without the name after the first `struct`.
fn keep_type(code: TokenStream) -> TokenStream {
    let mut name: Option<Ident> = None;
    let mut tokens = code.into_iter();
    let mut begin = TokenStream::new();
    while let Some(token) = tokens.next() {
        let is_struct = matches!(&token, TokenTree::Ident(word) if word == "struct");
        begin.append(token);
        if is_struct {
            if let Some(TokenTree::Ident(ident)) = tokens.next() {
                name = Some(ident);
            }
            break;
        }
    }
    let begin = elsewhere(begin);
    let rest = elsewhere(tokens.collect());
    quote!(#begin #name #rest)
}
