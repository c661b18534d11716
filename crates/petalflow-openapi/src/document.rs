//! The document as it was read, and the references in it.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::OpenApiError;

/// The most references that lead to references.
const MOST_REFERENCES: usize = 32;

/// A document of OpenAPI 3.
pub(super) struct Document(Value);

impl Document {
    pub(super) fn from_json(text: &str) -> Result<Self, OpenApiError> {
        let value = serde_json::from_str(text).map_err(|error| OpenApiError::Syntax {
            format: "JSON",
            problem: error.to_string(),
        })?;
        Document::new(value)
    }

    #[cfg(feature = "yaml")]
    pub(super) fn from_yaml(text: &str) -> Result<Self, OpenApiError> {
        let read = serde_saphyr::from_str_with_options(text, yaml_options(text.len()));
        let value = read.map_err(|error| OpenApiError::Syntax {
            format: "YAML",
            problem: error.to_string(),
        })?;
        Document::new(value)
    }

    pub(super) fn new(value: Value) -> Result<Self, OpenApiError> {
        let version = match (&value["openapi"], &value["swagger"]) {
            (Value::String(version), _) => version.clone(),
            // In YAML, `3.1` without quotes is a number.
            (version @ Value::Number(_), _) => version.to_string(),
            (_, Value::Null) => {
                return Err(OpenApiError::Version {
                    found: "no OpenAPI document, since it has no field `openapi`".into(),
                    fix: "give the document of the service, not a page about it",
                });
            }
            (_, version) => {
                return Err(OpenApiError::Version {
                    found: format!("of version {version} of Swagger"),
                    fix: "convert it, for example with the program `swagger2openapi`",
                });
            }
        };
        let supported = ["3.0", "3.1", "3.2"];
        if !supported
            .iter()
            .any(|it| version == *it || version.starts_with(&format!("{it}.")))
        {
            return Err(OpenApiError::Version {
                found: format!("of version `{version}` of OpenAPI"),
                fix: "convert it to one of them",
            });
        }
        Ok(Document(value))
    }

    pub(super) fn root(&self) -> &Value {
        &self.0
    }

    /// What a reference leads to.
    pub(super) fn target(&self, reference: &str) -> Result<&Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!(
                "it refers to `{reference}`, which is in another document: join the documents to one, for example with `redocly bundle`"
            ));
        };
        // In a fragment, pointers are percent-encoded.
        let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        self.0.pointer(&decoded).ok_or_else(|| {
            format!("it refers to `{reference}`, which the document does not have: add it, or correct the reference")
        })
    }

    /// The value, or what it refers to.
    pub(super) fn resolve<'d>(&'d self, mut value: &'d Value) -> Result<&'d Value, String> {
        for _ in 0..MOST_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            value = self.target(reference)?;
        }
        Err("a reference in it leads to itself: let it lead to a value".into())
    }
}

/// The usual limits, with as many values as the text can have: documents of large services have more than a settings file.
#[cfg(feature = "yaml")]
fn yaml_options(bytes: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: bytes.max(1_000),
            max_events: bytes.saturating_mul(2).max(1_000),
        },
        with_snippet: false,
    }
}

/// Reads an object of the document. `what` is its name in the error.
pub(super) fn read<T: DeserializeOwned>(value: &Value, what: &str) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("{what} is not as OpenAPI says: {error}"))
}
