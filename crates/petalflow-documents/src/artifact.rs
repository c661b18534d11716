//! Artifacts: documents, chunks, pictures.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An artifact: data that is more than a value, such as a document, a chunk of one, or a picture.
///
/// ```
/// use petalflow_documents::Artifact;
///
/// let chunk = Artifact { text: "Petals are leaves.".into(), ..Artifact::new("chunk") };
/// assert_eq!(chunk.kind, "chunk");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Artifact {
    /// The identifier of the artifact. May be empty.
    pub id: String,
    /// The type, such as `document` or `chunk`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The media type, such as `text/plain`.
    pub mime_type: String,
    /// The text of a text artifact.
    pub text: String,
    /// The bytes of a binary artifact.
    pub bytes: Vec<u8>,
    /// The location of an artifact that is stored elsewhere.
    pub uri: String,
    /// Further fields.
    pub meta: Map<String, Value>,
}

impl Artifact {
    /// Creates an empty artifact of this type.
    pub fn new(kind: impl Into<String>) -> Self {
        Artifact {
            kind: kind.into(),
            ..Self::default()
        }
    }
}
