//! Calls that wait for a person: for a confirmation or for a credential.
//!
//! An agent requests both with calls of its own. [`Conversation::pending`](crate::Conversation::pending) lists the open
//! requests. With [`sleep_tool`] an agent waits for a time, which a person can end.

pub(crate) mod confirmation;
pub(crate) mod credential;
mod request;
mod sleep;

pub use confirmation::CONFIRMATION;
pub use credential::CREDENTIAL;
pub use sleep::{EndSleep, SLEEP, sleep_tool};

/// Whether a call of this name is a request to a person. No model reads such calls.
pub(crate) fn is_request(name: &str) -> bool {
    name == CONFIRMATION || name == CREDENTIAL
}
