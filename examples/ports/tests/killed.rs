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

/// Kills the program as these faults say, each in a new process, and lets it end then. It must end as if nothing had happened.
/// Returns the number of kills: a process that ends before its fault is the last one.
async fn survives<T: Debug + PartialEq>(
    program: &impl AsyncFn(FaultyStore, &Path) -> T,
    expected: Option<&T>,
    faults: impl IntoIterator<Item = Fault>,
) -> usize {
    let (place, mut kills, mut description) = (Place::new(), 0, Vec::new());
    for fault in faults {
        if let Some(ended) = place.run(program, Some(fault)).await {
            assert_eq!(Some(&ended), expected, "{description:?}");
            return kills;
        }
        kills += 1;
        description.push(fault.to_string());
    }
    let ended = place.run(program, None).await;
    assert_eq!(ended.as_ref(), expected, "{description:?}");
    kills
}

/// Kills the program before and after each of its writes, then after every few writes again and again, and then twice, until it
/// was killed 200 times at least. Returns the number of kills.
pub(crate) async fn everywhere<T: Debug + PartialEq>(
    program: impl AsyncFn(FaultyStore, &Path) -> T,
) -> usize {
    let expected = Place::new().run(&program, None).await;
    let expected = expected.as_ref();
    assert!(expected.is_some(), "nothing kills it");
    let after = |nth| Fault {
        kind: FaultKind::KilledAfter,
        nth,
    };
    let mut kills = 0;
    for kind in FaultKind::KILLED {
        let occurs = async |nth| survives(&program, expected, [Fault { kind, nth }]).await > 0;
        let mut nth = 1;
        while occurs(nth).await {
            (kills, nth) = (kills + 1, nth + 1);
        }
    }
    assert!(kills > 20, "only {kills} writes");
    // With one write, a process can do no more than take the thread over.
    for writes in 2..10 {
        let faults = std::iter::repeat_n(after(writes), 1_000);
        let times = survives(&program, expected, faults).await;
        assert!(
            times < 1_000,
            "killed after every {writes} writes, it never ends"
        );
        kills += times;
    }
    for second in 1.. {
        for first in 1..5 {
            if kills >= KILLS {
                return kills;
            }
            kills += survives(&program, expected, [after(first), after(second)]).await;
        }
    }
    kills
}
