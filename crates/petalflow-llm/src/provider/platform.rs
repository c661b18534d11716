//! The platforms that serve the models of other providers: their paths, and what they change in a request.

use reqwest::header::{AUTHORIZATION, HeaderName};
use serde_json::{Value, json};

use super::catalog::{Family, Platform, Target};

/// What is written as it is in a segment of a path.
#[cfg(feature = "bedrock")]
const SEGMENT: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The version of Anthropic's interface at Vertex AI. It is a field of the body.
const VERTEX_VERSION: &str = "vertex-2023-10-16";

impl Target<'_> {
    /// The path after the base URL, without a slash at its start.
    pub(super) fn path(&self) -> String {
        let model = self.model;
        match (self.platform, self.family) {
            (Platform::AzureDeployments, Family::Chat) => {
                format!("openai/deployments/{model}/chat/completions")
            }
            (_, Family::Chat) => "chat/completions".to_string(),
            (_, Family::Responses) => "responses".to_string(),
            (Platform::Vertex, Family::Messages) => {
                let method = if self.streaming {
                    "streamRawPredict"
                } else {
                    "rawPredict"
                };
                format!("publishers/anthropic/models/{model}:{method}")
            }
            (_, Family::Messages) => "messages".to_string(),
            (_, Family::Gemini) => {
                let method = if self.streaming {
                    "streamGenerateContent"
                } else {
                    "generateContent"
                };
                format!("{}:{method}", self.gemini_model())
            }
            #[cfg(feature = "bedrock")]
            (_, Family::Converse) => {
                // The model may be a resource name, with slashes and colons.
                let model = percent_encoding::utf8_percent_encode(model, SEGMENT);
                let suffix = if self.streaming { "-stream" } else { "" };
                format!("model/{model}/converse{suffix}")
            }
        }
    }

    /// The path of a model of Gemini.
    pub(super) fn gemini_model(&self) -> String {
        match self.platform {
            Platform::Vertex => format!("publishers/google/models/{}", self.model),
            _ => format!("models/{}", self.model),
        }
    }

    /// The path for the vectors of texts, in OpenAI's format.
    pub(super) fn embeddings_path(&self) -> String {
        match self.platform {
            Platform::AzureDeployments => format!("openai/deployments/{}/embeddings", self.model),
            _ => "embeddings".to_string(),
        }
    }

    /// The path for a number of tokens, in Anthropic's format.
    pub(super) fn count_path(&self) -> &'static str {
        match self.platform {
            Platform::Vertex => "publishers/anthropic/models/count-tokens:rawPredict",
            _ => "messages/count_tokens",
        }
    }

    /// The header with the key, and the text before the key in it.
    pub(super) fn key_header(&self) -> (HeaderName, &'static str) {
        match (self.platform, self.family) {
            (Platform::Azure | Platform::AzureDeployments, _) => {
                (HeaderName::from_static("api-key"), "")
            }
            (_, Family::Gemini) => (HeaderName::from_static("x-goog-api-key"), ""),
            (Platform::Vertex, _) | (_, Family::Chat | Family::Responses) => {
                (AUTHORIZATION, "Bearer ")
            }
            (_, Family::Messages) => (HeaderName::from_static("x-api-key"), ""),
            #[cfg(feature = "bedrock")]
            (_, Family::Converse) => (AUTHORIZATION, "Bearer "),
        }
    }

    /// The body of a request for an answer as the platform takes it.
    pub(super) fn at_platform(&self, mut body: Value) -> Value {
        if self.platform == Platform::Vertex && self.family == Family::Messages {
            // The model is in the path.
            if let Value::Object(fields) = &mut body {
                fields.remove("model");
            }
            if body["anthropic_version"].is_null() {
                body["anthropic_version"] = VERTEX_VERSION.into();
            }
        }
        body
    }

    /// The body of a request for the number of tokens as the platform takes it.
    pub(super) fn counted_at_platform(&self, mut body: Value) -> Value {
        if self.platform == Platform::Vertex {
            body["anthropic_version"] = json!(VERTEX_VERSION);
        }
        body
    }
}

/// The host of Vertex AI in a location.
pub(super) fn vertex_host(location: &str) -> String {
    match location {
        "global" => "aiplatform.googleapis.com".to_string(),
        // Places of several regions.
        "us" | "eu" => format!("aiplatform.{location}.rep.googleapis.com"),
        region => format!("{region}-aiplatform.googleapis.com"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_have_their_hosts() {
        assert_eq!(vertex_host("global"), "aiplatform.googleapis.com");
        assert_eq!(vertex_host("eu"), "aiplatform.eu.rep.googleapis.com");
        assert_eq!(
            vertex_host("us-east5"),
            "us-east5-aiplatform.googleapis.com"
        );
    }
}
