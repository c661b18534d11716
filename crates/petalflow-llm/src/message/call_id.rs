//! The ids of calls for which the model gave none.

use std::fmt::{Display, Write as _};

const PREFIX: &str = "petalflow-call-";

/// An id for a call that came without one, or with the id of another call.
///
/// Results and confirmations name a call by its id, so a conversation needs one. The provider does not know it: the
/// clients of providers send such a call, and its result, without an id (Gemini) or with one that the provider accepts.
/// Google's documents ask for an id in the result only if the call has one.
///
/// ```
/// assert_eq!(petalflow_llm::generated_call_id("turn-3-0"), "petalflow-call-turn-3-0");
/// ```
#[must_use]
pub fn generated_call_id(unique: impl Display) -> String {
    // Room for the id of an event and a number.
    let mut id = String::with_capacity(PREFIX.len() + 40);
    id.push_str(PREFIX);
    // Writing to a text cannot fail.
    let _ = write!(id, "{unique}");
    id
}

/// Whether [`generated_call_id`] made the id.
#[cfg(feature = "providers")]
pub(crate) fn is_generated(id: &str) -> bool {
    id.starts_with(PREFIX)
}
