//! The documentation of the flow's type.

use petalflow_graph::mermaid;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;

use super::cx::Cx;

/// The state and the diagram, after the documentation of the user.
pub(crate) fn code(cx: &Cx<'_>) -> TokenStream {
    let path = cx.state.to_token_stream().to_string().replace(' ', "");
    let state = match cx.state {
        Type::Path(_) => format!("State: [`{path}`]"),
        _ => format!("State: `{path}`"),
    };
    let diagram = mermaid(cx.graph);
    let lines = ["", &state, "", "```mermaid"]
        .into_iter()
        .chain(diagram.lines())
        .chain(["```"]);
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = if cx.attrs.iter().any(|attr| attr.path().is_ident("doc")) {
        text
    } else {
        text.trim_start().to_owned()
    };
    quote!(#[doc = #text])
}
