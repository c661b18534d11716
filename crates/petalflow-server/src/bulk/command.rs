//! A command for threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A command. To give it twice to a thread is harmless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command {
    Cancel,
    Hold,
    Resume,
    Delete,
    /// Sets these labels, and removes those without a value. Others stay.
    Label(BTreeMap<String, Option<String>>),
}
