//! A run of this process.

use std::sync::Arc;

use petalflow::run::CancelToken;
use tokio::sync::{OwnedSemaphorePermit, broadcast};

#[cfg(feature = "protocol")]
use crate::turn_parts::Live;

/// A run of this process, or one that waits for it: the run of an answer, which an earlier run of the thread was given.
pub(crate) struct Running {
    /// Nothing is sent: the channel closes when the run ends.
    pub(crate) ended: broadcast::Sender<()>,
    pub(crate) token: CancelToken,
    /// Shared with the runs that wait for this one.
    pub(crate) permit: Arc<OwnedSemaphorePermit>,
    /// The pieces of answers that the log does not have yet. A run that was recovered has none: the log may have pieces of it from
    /// before the crash.
    #[cfg(feature = "protocol")]
    pub(crate) live: Option<Arc<Live>>,
    /// The typed answers that models write.
    #[cfg(feature = "agent")]
    pub(crate) outputs: Arc<crate::partial_outputs::PartialOutputs>,
}

/// Whether readers receive pieces of answers before the log has them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    Live,
    FromLog,
}

impl Running {
    /// A run that this token stops.
    pub(crate) fn new(
        token: CancelToken,
        permit: Arc<OwnedSemaphorePermit>,
        pieces: Pieces,
    ) -> Self {
        #[cfg(not(feature = "protocol"))]
        let _ = pieces;
        Running {
            ended: broadcast::Sender::new(1),
            token,
            permit,
            #[cfg(feature = "protocol")]
            live: (pieces == Pieces::Live).then(Arc::default),
            #[cfg(feature = "agent")]
            outputs: Arc::default(),
        }
    }
}
