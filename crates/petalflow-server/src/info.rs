//! What a server is, for people who operate it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use petalflow::checkpoint::Store as _;
use serde_json::{Value, json};

use crate::server::Inner;

/// The features with which the server was built.
const FEATURES: &[(&str, bool)] = &[
    ("a2a", cfg!(feature = "a2a")),
    ("ag-ui", cfg!(feature = "ag-ui")),
    ("agent", cfg!(feature = "agent")),
    ("conversation", cfg!(feature = "conversation")),
    ("metrics", cfg!(feature = "metrics")),
    ("notify", cfg!(feature = "notify")),
    ("openai", cfg!(feature = "openai")),
    ("schedules", cfg!(feature = "schedules")),
    ("studio", cfg!(feature = "studio")),
];

/// The version, the features, the flows and the store.
pub(crate) async fn info(State(server): State<Arc<Inner>>) -> Json<Value> {
    let settings = &server.settings;
    let features = FEATURES.iter().filter(|(_, is_on)| *is_on);
    let features: Vec<&str> = features.map(|(name, _)| *name).collect();
    let served = settings.flows.iter().map(|flow| flow.facts());
    let hooks = server.hook_flows().map(|hook| hook.threads.facts());
    let flows = served.chain(hooks);
    let flows = flows.map(|facts| json!({ "name": facts.name, "kind": facts.kind.as_str() }));
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "features": features,
        "flows": flows.collect::<Value>(),
        "store": {
            "type": without_paths(settings.store_type),
            "shared": settings.store.is_shared(),
        },
    }))
}

/// The name of a type without the paths of its parts, such as `Arc<dyn Store>`.
fn without_paths(name: &str) -> String {
    let mut short = String::new();
    let mut part = String::new();
    for c in name.chars() {
        match c {
            ':' => part.clear(),
            c if c.is_alphanumeric() || c == '_' => part.push(c),
            c => {
                short.push_str(&part);
                part.clear();
                short.push(c);
            }
        }
    }
    short + &part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_type_of_a_store_is_shown_without_paths() {
        for (name, short) in [
            ("petalflow_sqlite::store::SqliteStore", "SqliteStore"),
            (
                "alloc::sync::Arc<dyn petalflow_store::store::Store>",
                "Arc<dyn Store>",
            ),
            ("a::Encrypted<b::c::Memory_1>", "Encrypted<Memory_1>"),
        ] {
            assert_eq!(without_paths(name), short);
        }
    }
}
