//! What `with` says.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Cx, list, number};
use crate::options;

const POLICY: [&str; 3] = ["retry", "timeout", "idle"];

/// One row per node that has such options.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    list(
        cx.model
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| POLICY.iter().any(|option| node.option(option).is_some()))
            .map(|(place, node)| {
                let place = number(place);
                let field = |field: &str| {
                    // What cannot be read was reported by the check.
                    let value = node.option(field).and_then(|value| match field {
                        "retry" => options::retry(value, krate).ok(),
                        _ => options::duration(value).ok().map(options::duration_tokens),
                    });
                    let none = || quote!(::core::option::Option::None);
                    value.map_or_else(none, |value| quote!(::core::option::Option::Some(#value)))
                };
                let (retry, timeout, idle) = (field("retry"), field("timeout"), field("idle"));
                quote!((#place, #krate::Policy { retry: #retry, timeout: #timeout, idle: #idle }))
            }),
    )
}

/// One row per node that is stored under another name.
pub(super) fn ids(cx: &Cx<'_>) -> TokenStream {
    let nodes = cx.model.nodes.iter().enumerate();
    list(nodes.filter_map(|(place, node)| {
        let (place, id) = (number(place), node.id()?);
        Some(quote!((#place, #id)))
    }))
}
