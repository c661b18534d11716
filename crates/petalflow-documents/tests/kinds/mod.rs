//! The node kinds and their settings.

mod cache;
mod conditional;
mod filter;
mod gate;
mod guardian;
mod human;
mod llm_node;
mod llm_router;
mod llm_tools;
mod map;
mod merge;
mod rule_router;
mod settings;
mod signatures;
mod tool_node;
mod transform;
mod webhook_call;
mod webhook_trigger;
