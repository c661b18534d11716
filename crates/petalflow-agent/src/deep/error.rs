//! Errors of workspaces and policies.

use std::path::PathBuf;

/// Why a workspace or a policy cannot be made.
///
/// ```
/// use petalflow_agent::deep::Workspace;
///
/// let error = Workspace::folder("no/such/folder").unwrap_err();
/// assert_eq!(error.to_string(), "the folder `no/such/folder` cannot be opened: create it first");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeepError {
    /// The folder of a workspace cannot be opened.
    #[error("the folder `{}` cannot be opened: create it first", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// A pattern of paths or names cannot be read.
    #[error("the pattern `{pattern}` cannot be read: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
}
