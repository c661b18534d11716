//! A request to a model as parts, which a replay compares.

use serde_json::{Value, json};

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
pub struct RequestParts {
    parts: Vec<RequestPart>,
    of: Option<String>,
}

/// The longest value that is stored, in bytes of its JSON. Of a longer one, the digest is.
const LONGEST: usize = 64 * 1024;

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

    /// Names what the request is for, such as the item of a list. A node that makes several requests at the same time names each of them,
    /// so that a replay compares it with the one for the same item.
    ///
    /// ```
    /// use petalflow::node::RequestParts;
    ///
    /// let parts = RequestParts::new().of("chapter 7").whole("prompt", "Summarize it.");
    /// assert_eq!(parts.names().collect::<Vec<_>>(), ["prompt"]);
    /// ```
    #[must_use]
    pub fn of(mut self, item: impl Into<String>) -> Self {
        self.of = Some(item.into());
        self
    }

    /// The names of the parts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| &*part.name)
    }

    /// What the request is for.
    pub(crate) fn item(&self) -> Option<&str> {
        self.of.as_deref()
    }

    fn with(mut self, name: String, mut value: Value, is_whole: bool) -> Self {
        // Another crate may let maps keep the order in which entries were added.
        value.sort_all_objects();
        let text = value.to_string();
        let hash = siphasher::sip::SipHasher13::new().hash(text.as_bytes());
        self.parts.push(RequestPart {
            name,
            digest: format!("{hash:016x}"),
            value: Some(value),
            is_whole: is_whole && text.len() <= LONGEST,
        });
        self
    }

    /// The parts. Values that are not whole are there only with `all`.
    pub(crate) fn form(&self, all: bool) -> Value {
        let parts = self.parts.iter().map(|part| {
            let kept = part.value.as_ref().filter(|_| all || part.is_whole);
            match kept {
                Some(value) if all => {
                    json!({ "part": part.name, "digest": part.digest, "is": value })
                }
                Some(value) => json!({ "part": part.name, "is": value }),
                None => json!({ "part": part.name, "digest": part.digest }),
            }
        });
        parts.collect()
    }
}
