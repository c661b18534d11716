//! What goes wrong in a run, apart from its state.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::case::Case;

/// What may go wrong at a place of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Fails,
    Hangs,
}

/// The faults of one run with all its resumes. Each place has so many faults in all, whatever is run again, and fewer than its
/// node has attempts. So no run fails, and the end does not depend on them.
#[derive(Clone)]
pub(super) struct World(Arc<Mutex<Vec<u32>>>);

impl World {
    pub(super) fn new(case: &Case) -> Self {
        World(Arc::new(Mutex::new(case.faults())))
    }

    /// Fails or hangs, if there is a fault left at this place.
    pub(super) async fn pass(&self, place: usize, fault: Fault) -> petalflow::Result<()> {
        let is_faulty = {
            let mut left = self.0.lock().unwrap();
            let is_faulty = left[place] > 0;
            left[place] -= u32::from(is_faulty);
            is_faulty
        };
        match fault {
            _ if !is_faulty => Ok(()),
            Fault::Fails => Err("a fault".into()),
            Fault::Hangs => {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                Ok(())
            }
        }
    }
}
