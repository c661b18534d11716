//! The cards of agents.

use axum::http::header::AUTHORIZATION;
use petalflow_documents::kinds::TriggerAuth;
use serde_json::{Value, json};

use super::agent::VERSION;
use crate::a2a::{A2a, AgentProfile, AgentSkill};
use crate::served::ServedThreads;
use crate::server::Inner;

/// The card of an agent.
pub(super) fn of(server: &Inner, a2a: &A2a, flow: &dyn ServedThreads) -> Value {
    let name = &flow.facts().name;
    let unknown = || AgentProfile::new(format!("The {} `{name}`.", flow.facts().kind.as_str()));
    let profile = a2a.profiles.get(name).cloned().unwrap_or_else(unknown);
    let skills = if profile.skills.is_empty() {
        vec![AgentSkill::new(name, name, &profile.description).tag("chat")]
    } else {
        profile.skills
    };
    let url = format!("{}/a2a/{name}", a2a.url);
    let interface = |binding: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": VERSION });
    let mut card = json!({
        "name": name,
        "description": profile.description,
        "version": profile.version,
        "supportedInterfaces": [interface("JSONRPC"), interface("HTTP+JSON")],
        "capabilities": { "streaming": true, "pushNotifications": false, "extendedAgentCard": false },
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": skills,
    });
    if let Some((organization, url)) = &a2a.provider {
        card["provider"] = json!({ "organization": organization, "url": url });
    }
    if let Some(url) = profile.documentation_url {
        card["documentationUrl"] = url.into();
    }
    if let Some(TriggerAuth::HeaderToken { header, .. }) = &server.settings.threads {
        let requires = |scheme: &str| json!({ "schemes": { scheme: { "list": [] } } });
        let bearer = json!({ "httpAuthSecurityScheme": { "scheme": "Bearer" } });
        card["securitySchemes"] = json!({ "bearer": bearer });
        card["securityRequirements"] = json!([requires("bearer")]);
        if !header.trim().eq_ignore_ascii_case(AUTHORIZATION.as_str()) {
            card["securitySchemes"]["header"] =
                json!({ "apiKeySecurityScheme": { "location": "header", "name": header } });
            card["securityRequirements"] = json!([requires("header"), requires("bearer")]);
        }
    }
    card
}
