//! The files of an agent, and the tools for them.

mod change;
mod file_change;
mod files;
mod folder;
mod listing;
mod of_agent;
mod path;
mod same_file;
mod search;
mod thread;
pub(super) mod tool_names;
mod tools;

pub(super) use change::Change;
pub use file_change::FileChange;
pub use files::Workspace;
pub(super) use listing::MAX_BYTES;
pub(super) use path::normalized;
