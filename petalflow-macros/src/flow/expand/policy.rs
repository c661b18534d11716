//! What `with` says.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;

use super::{Cx, list, number};
use crate::options;

/// One row per node that has options.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    list(
        cx.model
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| !node.options.is_empty())
            .map(|(place, node)| {
                let place = number(place);
                let field = |field: &str| {
                    let said = node.options.iter().find(|(name, _)| name.unraw() == field);
                    // What cannot be read was reported by the check.
                    let value = said.and_then(|(_, value)| match field {
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
