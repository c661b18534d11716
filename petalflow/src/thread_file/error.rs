//! What is wrong with a file, and what stands for what it does not have.

/// What stands for a value that was removed.
pub(super) const REMOVED: &str = "[removed]";

/// Why a text is not the file of a thread.
///
/// ```
/// use petalflow::thread::ThreadFile;
///
/// let error = "{}".parse::<ThreadFile>().unwrap_err();
/// assert_eq!(error.to_string(), "this is not the file of a thread: /petalflow: it is missing; export the thread again");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the file of a thread: {at}{problem}; export the thread again")]
pub struct FileError {
    at: String,
    problem: String,
}

impl FileError {
    pub(super) fn new(at: &str, problem: &str) -> Self {
        let at = if at.is_empty() {
            String::new()
        } else {
            format!("{at}: ")
        };
        FileError {
            at,
            problem: problem.into(),
        }
    }
}
