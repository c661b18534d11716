//! The names of the tools for files.

pub(in crate::deep) const LIST: &str = "ls";
pub(in crate::deep) const READ: &str = "read_file";
pub(in crate::deep) const WRITE: &str = "write_file";
pub(in crate::deep) const EDIT: &str = "edit_file";
pub(in crate::deep) const FIND: &str = "glob";
pub(in crate::deep) const SEARCH: &str = "grep";

/// All of them.
pub(in crate::deep) const ALL: [&str; 6] = [LIST, READ, WRITE, EDIT, FIND, SEARCH];
