//! A request to a model as parts, which a replay compares.

use serde_json::{Value, json};

use crate::error::BoxError;
use petalflow_store::codec::encode;

/// A request that a node makes of a model, as parts that a replay compares, in the order in which it shows them. See
/// [`Context::note_request`](crate::Context::note_request).
///
/// ```
/// use petalflow::node::RequestParts;
/// use serde_json::json;
///
/// let parts = RequestParts::new()
///     .whole("system", "You answer in one word.")
///     .digest("tool weather", json!({ "type": "object" }));
/// assert_eq!(parts.names().collect::<Vec<_>>(), ["system", "tool weather"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestParts(Vec<RequestPart>);

/// One part of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RequestPart {
    pub(crate) name: String,
    /// A digest of the value.
    pub(crate) digest: String,
    /// The value. `None` if only its digest is stored.
    pub(crate) value: Option<Value>,
    /// Whether the value itself is stored.
    pub(crate) is_whole: bool,
}

impl RequestParts {
    /// A request without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part whose value is stored, so that a replay shows what it was.
    #[must_use]
    pub fn whole(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with(name.into(), value.into(), true)
    }

    /// Adds a part of which only a digest is stored: a replay says that it has changed, and shows what it is now.
    #[must_use]
    pub fn digest(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with(name.into(), value.into(), false)
    }

    /// The names of the parts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|part| &*part.name)
    }

    fn with(mut self, name: String, mut value: Value, is_whole: bool) -> Self {
        // Another crate may let maps keep the order in which entries were added.
        value.sort_all_objects();
        let hash = siphasher::sip::SipHasher13::new().hash(value.to_string().as_bytes());
        self.0.push(RequestPart {
            name,
            digest: format!("{hash:016x}"),
            value: Some(value),
            is_whole,
        });
        self
    }

    /// What is stored: the values that are whole, and the digests of the others.
    pub(crate) fn stored(&self) -> Result<Vec<u8>, BoxError> {
        self.encoded(false)
    }

    /// All values.
    pub(crate) fn encoded(&self, all: bool) -> Result<Vec<u8>, BoxError> {
        let parts = self.0.iter().map(|part| {
            let kept = part.value.as_ref().filter(|_| all || part.is_whole);
            match kept {
                Some(value) if part.is_whole => json!({ "part": part.name, "is": value }),
                Some(value) => json!({ "part": part.name, "digest": part.digest, "value": value }),
                None => json!({ "part": part.name, "digest": part.digest }),
            }
        });
        let mut bytes = Vec::new();
        encode(&parts.collect::<Vec<Value>>(), &mut bytes)?;
        Ok(bytes)
    }
}
