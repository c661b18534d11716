//! Pages of threads.

use petalflow::checkpoint::ThreadInfo;

/// How many threads are read at once.
pub(crate) const PAGE: usize = 1_000;

/// The threads of a page, and where the next page begins. `None` if there is no other.
pub(crate) struct Page {
    pub(crate) threads: Vec<ThreadInfo>,
    pub(crate) next: Option<Next>,
}

/// Where the next page begins.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// After this thread of a store.
    After(Box<ThreadInfo>),
    /// At this place of a server.
    #[cfg(feature = "client")]
    Place(String),
}
