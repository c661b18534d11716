//! Pages of threads.

use petalflow::checkpoint::{ThreadInfo, ThreadOrder};

use super::{FilterArgs, Place};
use crate::exit::Result;

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

/// All threads that meet the conditions, in the order of their ids.
pub(crate) async fn every_thread(place: &Place, filter: &FilterArgs) -> Result<Vec<ThreadInfo>> {
    let (mut all, mut next) = (Vec::new(), None);
    loop {
        let page = place
            .page(filter, ThreadOrder::Id, next.as_ref(), PAGE)
            .await?;
        all.extend(page.threads);
        match page.next {
            Some(after) => next = Some(after),
            None => return Ok(all),
        }
    }
}
