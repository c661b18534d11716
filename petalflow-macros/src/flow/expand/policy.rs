//! The tables for the options of `with`.

use proc_macro2::TokenStream;

use super::cx::Cx;
use super::tokens::number;
use crate::flow::model::Node;
use crate::options;
use crate::paths::option;
use crate::site::{self, quote};

const POLICY: [&str; 5] = ["retry", "timeout", "idle", "cache", "remote"];

/// One row per node that has such options.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let krate = cx.krate;
    let nodes = cx.model.nodes.iter().enumerate();
    let is_set = |node: &Node| POLICY.iter().any(|option| node.option(option).is_some());
    let rows = nodes.filter(|(_, node)| is_set(node)).map(|(index, node)| {
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
        let remote = option(node.text("remote").map(|pool| {
            let pool = site::text(&pool);
            quote!(#pool)
        }));
        quote!((#index, #krate::policy::Policy {
            retry: #retry, timeout: #timeout, idle: #idle, cache: #cache, remote: #remote,
        }))
    });
    quote!(#(#rows),*)
}

/// One row per node with an `id`.
pub(super) fn ids(cx: &Cx<'_>) -> TokenStream {
    let nodes = cx.model.nodes.iter().enumerate();
    let ids = nodes.filter_map(|(index, node)| {
        let (index, id) = (number(index), site::text(&node.id()?));
        Some(quote!((#index, #id)))
    });
    quote!(#(#ids),*)
}
