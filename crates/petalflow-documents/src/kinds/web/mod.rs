//! Nodes that send and receive HTTP requests.

#[cfg(feature = "http")]
mod webhook_call;
mod webhook_trigger;

#[cfg(feature = "http")]
pub use webhook_call::{WebhookCallConfig, WebhookCallNode};
pub use webhook_trigger::{
    Refusal, TriggerAuth, WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode,
};
