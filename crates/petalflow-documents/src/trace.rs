//! The trace of an envelope.

use serde::{Deserialize, Serialize};

use crate::clock::now_ms;

/// The trace of an envelope: the run that it belongs to, and the start time.
///
/// ```
/// use petalflow_documents::Trace;
///
/// let trace = Trace { run_id: "run-7".into(), ..Trace::now() };
/// assert!(trace.started_ms > 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// The identifier of the run.
    pub run_id: String,
    /// The identifier of the parent run. Empty if there is none.
    pub parent_id: String,
    /// The identifier of the part of the run. Empty if there is none.
    pub span_id: String,
    /// The start time, in milliseconds since 1970 (UTC).
    pub started_ms: u64,
}

impl Trace {
    /// Creates a trace that starts now, without identifiers.
    pub fn now() -> Self {
        Trace {
            started_ms: now_ms(),
            ..Self::default()
        }
    }
}
