//! Conversation flows.
