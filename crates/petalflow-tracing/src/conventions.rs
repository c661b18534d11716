//! Values of the semantic conventions of OpenTelemetry, for spans and for metrics.

use petalflow_llm::LlmErrorKind;

/// The name of a provider in the conventions (`gen_ai.provider.name`), for a client with this name. A client that has none there keeps
/// its own.
///
/// ```
/// assert_eq!(petalflow_tracing::provider_name("gemini"), "gcp.gemini");
/// assert_eq!(petalflow_tracing::provider_name("openai"), "openai");
/// ```
pub fn provider_name(client: &str) -> &str {
    match client {
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        "vertex" | "vertexai" => "gcp.vertex_ai",
        "xai" => "x_ai",
        other => other,
    }
}

/// The kind of a failure in the conventions (`error.type`): the provider's status code if there is one.
///
/// ```
/// use petalflow_llm::LlmErrorKind;
///
/// assert_eq!(petalflow_tracing::error_type(&LlmErrorKind::Timeout), "timeout");
/// ```
pub fn error_type(kind: &LlmErrorKind) -> String {
    match kind {
        LlmErrorKind::Provider {
            status: Some(status),
            ..
        } => return status.to_string(),
        LlmErrorKind::Provider { status: None, .. } => "provider",
        LlmErrorKind::Request => "request",
        LlmErrorKind::Auth => "auth",
        LlmErrorKind::RateLimited { .. } => "429",
        LlmErrorKind::Connection => "connection",
        LlmErrorKind::Timeout => "timeout",
        LlmErrorKind::Cancelled => "cancelled",
        LlmErrorKind::Malformed => "malformed",
        LlmErrorKind::Arguments { .. } => "arguments",
        LlmErrorKind::Blocked { .. } => "content_filter",
        LlmErrorKind::Budget => "budget",
        _ => "other",
    }
    .to_string()
}
