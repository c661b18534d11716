//! What rust-analyzer sees instead of the code of a flow: its interface without bodies, and each name of the user once.
//!
//! An editor finds the meaning of a token through all tokens of the expansion that have its span. So the names are written as
//! plain paths with the user's spans, and everything else has the span of the macro call. The text is read token by token and
//! not from the syntax tree, because what is completed is not a complete statement yet.

mod api;
mod names;
mod scan;

use proc_macro2::TokenStream;
use quote::quote;

use super::expand::{Cx, diagram, docs, drawing};

/// The interface, for rustdoc.
pub(super) fn interface(cx: &Cx<'_>) -> TokenStream {
    api::code(cx, docs(cx, &drawing(cx)))
}

/// The code for an editor. `body` has the statements.
pub(super) fn flow(cx: &Cx<'_>, body: TokenStream) -> TokenStream {
    let statements = scan::statements(body);
    let api = api::code(cx, docs(cx, &diagram(cx)));
    let names = names::code(cx, &statements);
    quote!(#names #api)
}
