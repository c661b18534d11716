//! Nodes that send and receive HTTP requests.

mod credentials;
mod header;
mod refusal;
mod signature;
mod trigger_auth;
#[cfg(feature = "http")]
mod webhook_call;
mod webhook_trigger;

pub use refusal::Refusal;
pub use trigger_auth::TriggerAuth;
#[cfg(feature = "http")]
pub use webhook_call::{WebhookCallConfig, WebhookCallNode};
pub use webhook_trigger::{WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode};
