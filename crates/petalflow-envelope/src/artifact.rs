//! Documents and the like.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that is more than a value: a document, a chunk of one, a picture.
///
/// ```
/// use petalflow_envelope::Artifact;
///
/// let chunk = Artifact { text: "Petals are leaves.".into(), ..Artifact::new("chunk") };
/// assert_eq!(chunk.kind, "chunk");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Artifact {
    /// Its name among others; empty where it needs none.
    pub id: String,
    /// What it is, such as `document` or `chunk`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its media type, such as `text/plain`.
    pub mime_type: String,
    /// Its text, where it is one.
    pub text: String,
    /// Its bytes, where it is not.
    pub bytes: Vec<u8>,
    /// Where it is, if not here.
    pub uri: String,
    /// Anything else.
    pub meta: Map<String, Value>,
}

impl Artifact {
    /// An artifact of this type, with nothing in it.
    pub fn new(kind: impl Into<String>) -> Self {
        Artifact {
            kind: kind.into(),
            ..Self::default()
        }
    }
}
