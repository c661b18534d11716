//! Which run an envelope belongs to.

use serde::{Deserialize, Serialize};

use crate::clock::now_ms;

/// Which run an envelope belongs to, and since when.
///
/// ```
/// use petalflow_envelope::Trace;
///
/// let trace = Trace { run_id: "run-7".into(), ..Trace::now() };
/// assert!(trace.started_ms > 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// The run.
    pub run_id: String,
    /// The run that it is a part of; empty if none.
    pub parent_id: String,
    /// The part; empty if none.
    pub span_id: String,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_ms: u64,
}

impl Trace {
    /// A run that begins now and has no name yet.
    pub fn now() -> Self {
        Trace {
            started_ms: now_ms(),
            ..Self::default()
        }
    }
}
