//! The items that the macros generate, apart from running them.

mod state_node;
