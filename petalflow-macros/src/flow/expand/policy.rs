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
                let said = |field: &str| {
                    let option = node.options.iter().find(|(name, _)| name.unraw() == field);
                    option.map(|(_, value)| value)
                };
                // What cannot be read was reported by the check.
                let retry = said("retry").and_then(|value| options::retries(value, krate).ok());
                let retry = retry.unwrap_or_else(|| quote!(&[]));
                let time = |field: &str| {
                    let time = said(field).and_then(|value| options::duration(value).ok());
                    let none = || quote!(::core::option::Option::None);
                    time.map(options::duration_tokens)
                        .map_or_else(none, |time| quote!(::core::option::Option::Some(#time)))
                };
                let (timeout, idle) = (time("timeout"), time("idle"));
                quote!((#place, #krate::Policy { retry: #retry, timeout: #timeout, idle: #idle }))
            }),
    )
}
