//! The documentation of the flow's type.

use petalflow_graph::{mermaid, picture};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Type;

use super::cx::Cx;

use crate::site::{self, quote};

/// The graph as text.
pub(crate) fn diagram(cx: &Cx<'_>) -> String {
    format!("```mermaid\n{}```", mermaid(cx.graph))
}

/// The graph as a picture.
pub(crate) fn drawing(cx: &Cx<'_>) -> String {
    format!("<div>\n{}</div>", picture(cx.graph))
}

/// The state and the graph, after the documentation of the user.
pub(crate) fn code(cx: &Cx<'_>, graph: &str) -> TokenStream {
    let path = cx.state.to_token_stream().to_string().replace(' ', "");
    let state = match cx.state {
        Type::Path(_) => format!("State: [`{path}`]"),
        _ => format!("State: `{path}`"),
    };
    let text = format!("\n{state}\n\n{graph}");
    let text = if cx.attrs.iter().any(|attr| attr.path().is_ident("doc")) {
        text
    } else {
        text.trim_start().to_owned()
    };
    let text = site::text(&text);
    quote!(#[doc = #text])
}
