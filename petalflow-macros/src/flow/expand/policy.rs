//! The options of `with`.

use proc_macro2::TokenStream;
use quote::quote;

use super::cx::Cx;
use super::tokens::{list, number};
use crate::options;
use crate::paths::option;

const POLICY: [&str; 4] = ["retry", "timeout", "idle", "cache"];

/// One row per node that has such options.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    list(
        cx.model
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| POLICY.iter().any(|option| node.option(option).is_some()))
            .map(|(index, node)| {
                let index = number(index);
                let said = |field: &str| node.option(field);
                // What cannot be read was reported by the check.
                let retry = said("retry").and_then(|value| options::retries(value, krate).ok());
                let retry = retry.unwrap_or_else(|| quote!(&[]));
                let time = |field: &str| {
                    let time = said(field).and_then(|value| options::duration(value).ok());
                    option(time.map(options::duration_tokens))
                };
                let (timeout, idle, cache) = (time("timeout"), time("idle"), time("cache"));
                quote!((#index, #krate::policy::Policy { retry: #retry, timeout: #timeout, idle: #idle, cache: #cache }))
            }),
    )
}

/// One row per node that is stored under another name.
pub(super) fn ids(cx: &Cx<'_>) -> TokenStream {
    let nodes = cx.model.nodes.iter().enumerate();
    list(nodes.filter_map(|(index, node)| {
        let (index, id) = (number(index), node.id()?);
        Some(quote!((#index, #id)))
    }))
}
