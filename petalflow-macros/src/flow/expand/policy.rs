//! The tables for the options of `with`.

use proc_macro2::TokenStream;
use quote::quote;

use super::cx::Cx;
use super::tokens::number;
use crate::options;
use crate::paths::option;
use crate::tokens::list_at;

const POLICY: [&str; 4] = ["retry", "timeout", "idle", "cache"];

/// One row per node that has such options.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    list_at(&cx.model.nodes, &|index, node| {
        if !POLICY.iter().any(|option| node.option(option).is_some()) {
            return TokenStream::new();
        }
        let index = number(index);
        // `check` reports invalid values.
        let retry = node
            .option("retry")
            .and_then(|value| options::retries(value, krate).ok());
        let retry = retry.unwrap_or_else(|| quote!(&[]));
        let time = |field: &str| {
            let time = node
                .option(field)
                .and_then(|value| options::duration(value).ok());
            option(time.map(options::duration_tokens))
        };
        let timeout = time("timeout");
        let idle = time("idle");
        let cache = time("cache");
        quote!((#index, #krate::policy::Policy { retry: #retry, timeout: #timeout, idle: #idle, cache: #cache }))
    })
}

/// One row per node with an `id`.
pub(super) fn ids(cx: &Cx<'_>) -> TokenStream {
    let mut ids = TokenStream::new();
    for (index, node) in cx.model.nodes.iter().enumerate() {
        if let Some(id) = node.id() {
            let index = number(index);
            ids.extend(quote!((#index, #id),));
        }
    }
    ids
}
