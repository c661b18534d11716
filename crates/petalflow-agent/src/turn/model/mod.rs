//! One call of the model: the steps that build the request, the guardrails, and what the answer leads to.

pub(super) mod ask;
mod client;
pub(super) mod code;
pub(super) mod compact;
mod growing_answer;
pub(super) mod guarded;
pub(super) mod model_call;
pub(super) mod repair;
pub(super) mod steering;
pub(super) mod steps;
mod tools;
pub(super) mod validators;
