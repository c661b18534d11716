//! The tokens that requests need.

use petalflow_documents::kinds::TriggerAuth;
use serde_json::{Map, Value, json};

use super::schemas::component;
use crate::hook::Hook;
use crate::settings::Settings;

/// The scheme of the token for flows and threads.
const TOKEN: &str = "token";

/// The scheme of the same token, as the clients of protocols send it.
const BEARER: &str = "bearer";

/// The schemes, by name.
pub(super) fn schemes(settings: &Settings) -> Map<String, Value> {
    let mut schemes = Map::new();
    let token = settings.threads.as_ref().and_then(scheme);
    if let Some(token) = token {
        schemes.insert(TOKEN.into(), token);
        let description = "The same token. Only the addresses of protocols take it so.";
        let bearer = json!({ "type": "http", "scheme": "bearer", "description": description });
        schemes.insert(BEARER.into(), bearer);
    }
    for hook in &settings.hooks {
        if let Some(scheme) = scheme(&hook.node.config().auth) {
            schemes.insert(name(hook), scheme);
        }
    }
    schemes
}

/// What a request for flows and threads needs.
pub(super) fn of_threads(settings: &Settings) -> Value {
    match settings.threads.as_ref().and_then(scheme) {
        Some(_) => json!([{ TOKEN: [] }]),
        None => json!([]),
    }
}

/// What a request of the client of a protocol needs.
pub(super) fn of_protocols(settings: &Settings) -> Value {
    match settings.threads.as_ref().and_then(scheme) {
        Some(_) => json!([{ TOKEN: [] }, { BEARER: [] }]),
        None => json!([]),
    }
}

/// What a request to a trigger needs.
pub(super) fn of_hook(hook: &Hook) -> Value {
    match scheme(&hook.node.config().auth) {
        Some(_) => json!([{ name(hook): [] }]),
        None => json!([]),
    }
}

fn name(hook: &Hook) -> String {
    component(&format!("webhook.{}.{}", hook.workflow, hook.trigger))
}

fn scheme(auth: &TriggerAuth) -> Option<Value> {
    let in_header = |header: &str, description: &str| json!({ "type": "apiKey", "in": "header", "name": header, "description": description });
    match auth {
        TriggerAuth::None => None,
        TriggerAuth::HeaderToken { header, .. } => Some(in_header(header.trim(), "The token.")),
        TriggerAuth::GithubSignature { .. } => Some(in_header(
            "X-Hub-Signature-256",
            "The signature of the body, as GitHub makes it.",
        )),
        TriggerAuth::StripeSignature { .. } => Some(in_header(
            "Stripe-Signature",
            "The signature of the body, as Stripe makes it.",
        )),
        _ => Some(in_header(
            "webhook-signature",
            "The signature of the body, by Standard Webhooks.",
        )),
    }
}
