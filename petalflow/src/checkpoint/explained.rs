//! A store's failure in words that name the store and the fix, above those of its client.

use std::error::Error;
use std::fmt;

use crate::error::BoxError;

/// What a user reads below [`StoreError`](super::StoreError).
#[derive(Debug)]
pub(super) struct Explained {
    words: String,
    source: Option<BoxError>,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Error for Explained {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
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
