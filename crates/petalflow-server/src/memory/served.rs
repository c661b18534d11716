//! The memory of a server, and which part of it a caller sees.

use std::sync::Arc;

use petalflow_memory::{Cursor, Entry, Memory, Namespace};
use serde_json::{Value, json};

use crate::access::Access;
use crate::refusal::Refusal;

/// Says the namespace of the callers whose threads have a label with this name and value.
pub(crate) type OfLabel = Arc<dyn Fn(&str, &str) -> Namespace + Send + Sync>;

/// The memory of a server.
#[derive(Clone)]
pub(crate) struct ServedMemory {
    pub(crate) memory: Memory,
    /// `None`: callers who do not see all threads see no memory.
    pub(crate) of_label: Option<OfLabel>,
}

/// The part of the memory that a caller sees. Its namespaces begin there.
pub(crate) struct Part {
    pub(crate) memory: Memory,
}

impl ServedMemory {
    pub(crate) fn part(&self, access: &Access) -> Result<Part, Refusal> {
        let of_label = |name: &str, value: &str| {
            let namespace = self.of_label.as_ref().map(|of| of(name, value));
            namespace.map(|namespace| self.memory.within(namespace))
        };
        let memory = match access {
            Access::All => Some(self.memory.clone()),
            Access::Label { name, value } => of_label(name, value),
            Access::None => None,
        };
        let memory = memory.ok_or_else(|| {
            Refusal::forbidden(
                "you may not see the memory: the program has not said which part is yours",
            )
        })?;
        Ok(Part { memory })
    }
}

impl Part {
    /// A namespace as the caller sees it.
    fn relative(&self, namespace: &Namespace) -> Namespace {
        let hidden = self.memory.namespace().names().len();
        namespace.names().iter().skip(hidden).cloned().collect()
    }

    /// An entry as the caller sees it.
    pub(crate) fn shown(&self, entry: &Entry) -> Value {
        let mut shown = json!(entry);
        shown["namespace"] = json!(self.relative(&entry.namespace));
        shown["expires_ms"] = json!(entry.expires_ms);
        shown
    }

    /// The place after a page, as a text for the next request.
    pub(crate) fn shown_cursor(&self, cursor: &Cursor) -> String {
        let namespace = self.relative(&cursor.namespace);
        let key = cursor.key.clone();
        json!(Cursor { namespace, key }).to_string()
    }

    /// The place that the caller has sent.
    pub(crate) fn cursor(&self, text: &str) -> Option<Cursor> {
        let Cursor { namespace, key } = serde_json::from_str(text).ok()?;
        let namespace = self.memory.namespace().join(&namespace);
        Some(Cursor { namespace, key })
    }
}
