//! Errors of artifacts.

use petalflow::BoxError;

/// Error of an operation on artifacts. Nothing was changed.
///
/// ```
/// use petalflow_agent::artifacts::Artifacts;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let files = Artifacts::in_memory().thread("ann")?;
/// let error = files.read("../secret").await.unwrap_err();
/// assert_eq!(error.to_string(), "`../secret` cannot be the name of an artifact: it has a `/`");
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// A name that an artifact, a thread or a user cannot have here.
    #[error("`{name}` cannot be the name of {what}: {why}")]
    Name {
        /// What would have the name.
        what: &'static str,
        /// The name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A media type that is empty, too long, or not made of visible ASCII characters.
    #[error("`{0}` is not a media type: give one such as `text/plain`, of at most 127 characters")]
    MediaType(String),
    /// The content is larger than the limit.
    #[error(
        "artifact `{name}` has {bytes} bytes, which is more than the limit of {limit}: raise it with `.max_bytes(..)`"
    )]
    TooLarge {
        /// The artifact.
        name: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The content is not text.
    #[error("artifact `{0}` is not text: its bytes are not UTF-8")]
    NotText(String),
    /// Others wrote the artifact each time that this write was tried.
    #[error("artifact `{0}` was written by others at the same time, again and again: try again")]
    Busy(String),
    /// The stored bytes are not those of an artifact.
    #[error("artifact `{0}` is damaged: what is stored has no media type")]
    Damaged(String),
    /// The store failed.
    #[error("{what}")]
    Store {
        /// What failed.
        what: String,
        /// The cause.
        #[source]
        source: BoxError,
    },
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for ArtifactError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

impl ArtifactError {
    /// An error of a store.
    ///
    /// ```
    /// use petalflow_agent::artifacts::ArtifactError;
    /// use std::error::Error as _;
    ///
    /// let error = ArtifactError::store("the bucket cannot be read", "timed out");
    /// assert_eq!(error.to_string(), "the bucket cannot be read");
    /// assert_eq!(error.source().unwrap().to_string(), "timed out");
    /// ```
    pub fn store(what: impl Into<String>, source: impl Into<BoxError>) -> Self {
        ArtifactError::Store {
            what: what.into(),
            source: source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn texts_are_said_once() {
        check_texts(&ArtifactError::store(
            "the folder cannot be read",
            "no such folder",
        ));
        check_texts(&ArtifactError::Busy("a".into()));
        check_texts(&ArtifactError::MediaType(String::new()));
    }
}
