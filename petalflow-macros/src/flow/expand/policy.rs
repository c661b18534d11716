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
                let fields = node.options.iter().filter_map(|(name, value)| {
                    // What cannot be read was reported by the check.
                    let value = match &*name.unraw().to_string() {
                        "retry" => options::retry(value, krate).ok()?,
                        "timeout" | "idle" => {
                            options::duration_tokens(options::duration(value).ok()?)
                        }
                        _ => return None,
                    };
                    Some(quote!(#name: ::core::option::Option::Some(#value),))
                });
                quote!((#place, #krate::Policy { #(#fields)* ..#krate::Policy::NONE }))
            }),
    )
}
