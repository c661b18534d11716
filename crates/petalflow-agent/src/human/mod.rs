//! Calls that wait for a person: for a confirmation or for a credential.
//!
//! An agent requests both with calls of its own. [`Conversation::pending`](crate::Conversation::pending) lists the open
//! requests.

pub(crate) mod confirmation;
pub(crate) mod credential;
mod request;

pub use confirmation::CONFIRMATION;
pub use credential::CREDENTIAL;

/// Whether a call of this name is a request to a person. No model reads such calls.
pub(crate) fn is_request(name: &str) -> bool {
    name == CONFIRMATION || name == CREDENTIAL
}
