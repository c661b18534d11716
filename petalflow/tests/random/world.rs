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

    /// Whether something will go wrong at this place. Takes one of its faults.
    pub(super) fn draw(&self, place: usize) -> bool {
        let mut left = self.0.lock().unwrap();
        let is_faulty = left[place] > 0;
        left[place] -= u32::from(is_faulty);
        is_faulty
    }
}

impl Fault {
    /// What goes wrong.
    pub(super) async fn happen(self) -> petalflow::Result<()> {
        match self {
            Fault::Fails => Err("a fault".into()),
            Fault::Hangs => {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                Ok(())
            }
        }
    }
}
