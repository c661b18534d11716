//! Whether an attempt of a node still runs.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

/// Whether an attempt of a node still runs. The driver has the life itself; a clone, as in a [`Context`](crate::Context), tells
/// when it is over.
#[derive(Debug, Default)]
pub(crate) struct AttemptLife {
    /// Cancelled when the attempt is over. Made with the first clone: most nodes take no context.
    over: OnceLock<CancellationToken>,
    is_clone: bool,
}

impl AttemptLife {
    /// A life that never ends, for a context outside of a run.
    pub(crate) fn endless() -> Self {
        AttemptLife {
            over: CancellationToken::new().into(),
            is_clone: true,
        }
    }

    /// The attempt is over, and the next one begins.
    #[inline]
    pub(crate) fn renew(&mut self) {
        if let Some(over) = self.over.take() {
            over.cancel();
        }
    }

    /// Whether the attempt is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over.get().is_some_and(CancellationToken::is_cancelled)
    }

    /// Completes when the attempt is over.
    pub(crate) async fn over(&self) {
        self.token().cancelled().await;
    }

    fn token(&self) -> &CancellationToken {
        self.over.get_or_init(CancellationToken::new)
    }
}

impl Clone for AttemptLife {
    fn clone(&self) -> Self {
        AttemptLife {
            over: self.token().clone().into(),
            is_clone: true,
        }
    }
}

impl Drop for AttemptLife {
    fn drop(&mut self) {
        if !self.is_clone {
            self.renew();
        }
    }
}
