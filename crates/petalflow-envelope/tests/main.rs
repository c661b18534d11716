//! The envelope and the nodes over it. The number before a test's name is that of the row that it checks.

mod builder;
mod cache;
mod conditional;
mod documents;
mod envelope;
mod filter;
mod gate;
mod guardian;
mod human;
mod kit;
mod llm_node;
mod llm_router;
mod map;
mod merge;
mod merging;
mod routes;
mod rule_router;
mod settings;
mod small_types;
mod tool_node;
mod transform;
mod webhook_call;
mod webhook_trigger;
mod wire;
