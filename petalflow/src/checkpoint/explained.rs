//! A store's failure in words that name the store and the fix, above those of its client.

use crate::BoxError;

/// What a user reads below [`StoreError`](super::StoreError).
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct Explained {
    words: String,
    #[source]
    source: Option<BoxError>,
}

impl Explained {
    /// Words of our own, about what a client said.
    pub(super) fn error(words: impl Into<String>, source: impl Into<BoxError>) -> BoxError {
        Box::new(Explained {
            words: words.into(),
            source: Some(source.into()),
        })
    }
}
