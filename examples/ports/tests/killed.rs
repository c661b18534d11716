//! Kills a program wherever it writes to its store.

use std::fmt::Debug;
use std::path::Path;
use std::pin::pin;

use petalflow::checkpoint::InMemoryStore;
use petalflow_testing::{Fault, FaultKind, FaultyStore};
use tempfile::TempDir;

/// How many kills each program survives.
pub(crate) const KILLS: usize = 200;

/// What outlives a process.
struct Place {
    store: InMemoryStore,
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Place {
            store: InMemoryStore::new(),
            folder: tempfile::tempdir().expect("a folder can be made"),
        }
    }

    /// Runs the program in a new process. None if the process was killed.
    async fn run<T>(
        &self,
        program: &impl AsyncFn(FaultyStore, &Path) -> T,
        fault: Option<Fault>,
    ) -> Option<T> {
        let store = FaultyStore::new(&self.store);
        if let Some(fault) = fault {
            store.inject(fault);
        }
        let ended = {
            let run = pin!(program(store.clone(), self.folder.path()));
            tokio::select! {
                biased;
                () = store.died() => None,
                ended = run => Some(ended),
            }
        };
        store.detach();
        ended
    }
}

/// Kills the program before and after each of its writes, and then again and again after every few writes, until it was killed
/// 200 times at least. Each time it must end as if nothing had happened. Returns the number of kills.
pub(crate) async fn everywhere<T: Debug + PartialEq>(
    program: impl AsyncFn(FaultyStore, &Path) -> T,
) -> usize {
    let expected = Place::new().run(&program, None).await;
    assert!(expected.is_some(), "nothing kills it");
    let mut kills = 0;
    for kind in FaultKind::KILLED {
        for nth in 1.. {
            let (place, fault) = (Place::new(), Fault { kind, nth });
            if place.run(&program, Some(fault)).await.is_some() {
                break;
            }
            kills += 1;
            let ended = place.run(&program, None).await;
            assert_eq!(ended, expected, "{fault}");
        }
    }
    assert!(kills > 20, "only {kills} writes");
    // With fewer writes, a process does no more than to take the thread over.
    let mut writes = 4;
    while kills < KILLS {
        let (place, kind) = (Place::new(), FaultKind::KilledAfter);
        let mut times = 0;
        let ended = loop {
            let fault = Fault { kind, nth: writes };
            match place.run(&program, Some(fault)).await {
                None => times += 1,
                ended => break ended,
            }
            assert!(
                times < 1_000,
                "killed after every {writes} writes, it never ends"
            );
        };
        assert_eq!(ended, expected, "killed after every {writes} writes");
        assert!(times > 0, "not killed after {writes} writes");
        kills += times;
        writes += 1;
    }
    kills
}
