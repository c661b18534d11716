//! What the macros make, apart from how it runs.

mod state_node;
