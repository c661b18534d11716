//! Whether an attempt of a node still runs.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

/// Whether an attempt of a node still runs. The driver has the life itself; a clone, as in a [`Context`](crate::Context), tells
/// when it is over.
#[derive(Debug)]
pub(crate) enum AttemptLife {
    /// Of the driver. Its token is cancelled when the attempt is over, and made with the first clone: most nodes take no
    /// context.
    Own(OnceLock<CancellationToken>),
    Clone(CancellationToken),
}

impl AttemptLife {
    /// A life that never ends, for a context outside of a run.
    pub(crate) fn endless() -> Self {
        AttemptLife::Clone(CancellationToken::new())
    }

    /// The attempt is over, and the next one begins.
    #[inline]
    pub(crate) fn renew(&mut self) {
        if let AttemptLife::Own(over) = self
            && let Some(over) = over.take()
        {
            over.cancel();
        }
    }

    /// Whether the attempt is over.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            AttemptLife::Own(over) => over.get().is_some_and(CancellationToken::is_cancelled),
            AttemptLife::Clone(over) => over.is_cancelled(),
        }
    }

    /// Completes when the attempt is over.
    pub(crate) async fn over(&self) {
        self.token().cancelled().await;
    }

    fn token(&self) -> &CancellationToken {
        match self {
            AttemptLife::Own(over) => over.get_or_init(CancellationToken::new),
            AttemptLife::Clone(over) => over,
        }
    }
}

impl Default for AttemptLife {
    fn default() -> Self {
        AttemptLife::Own(OnceLock::new())
    }
}

impl Clone for AttemptLife {
    fn clone(&self) -> Self {
        AttemptLife::Clone(self.token().clone())
    }
}

impl Drop for AttemptLife {
    fn drop(&mut self) {
        self.renew();
    }
}
