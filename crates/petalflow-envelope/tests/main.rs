//! The envelope and the nodes over it. The number before a test's name is that of the row that it checks.

mod envelope;
mod llm_node;
mod small_types;
mod tool_node;
