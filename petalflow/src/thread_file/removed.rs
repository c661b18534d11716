//! The keys whose values are removed, and what stands for the values.

use serde_json::{Value, json};

use super::error::REMOVED;
use crate::checkpoint::{KeyOutline, Outline};

/// The keys whose values are removed from a flow.
pub(super) struct Removed<'f> {
    keys: &'f [String],
    outline: Option<&'f Outline>,
}

impl<'f> Removed<'f> {
    pub(super) fn of(keys: &'f [String], outline: Option<&'f Outline>) -> Self {
        Removed { keys, outline }
    }

    /// No key is removed.
    pub(super) fn nothing() -> Self {
        Removed {
            keys: &[],
            outline: None,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|id| id == key)
    }

    /// What stands for a write to a key: the marker if it is a text. A value of another type could not be read, so nothing does.
    pub(super) fn write(&self, key: &str, overwrites: bool) -> Value {
        if is_text(self.outline, key) {
            json!([[overwrites, REMOVED]])
        } else {
            json!([])
        }
    }
}

/// Whether the values of a key are texts.
pub(super) fn is_text(outline: Option<&Outline>, key: &str) -> bool {
    let key = outline.and_then(|outline| KeyOutline::find(&outline.keys, key));
    key.is_some_and(|key| ["String", "Option<String>"].contains(&&*key.ty))
}
