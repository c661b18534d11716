//! The files of a workspace, and how many and how large they may be.

/// The maximum size of a file that a model reads or writes, in bytes.
pub(in crate::deep) const MAX_BYTES: usize = 1024 * 1024;
/// The maximum number of files that are listed.
pub(super) const MAX_FILES: usize = 10_000;

/// The paths of files, in order.
pub(super) struct Listing {
    pub(super) paths: Vec<String>,
    /// Whether there are more files.
    pub(super) is_cut: bool,
}
