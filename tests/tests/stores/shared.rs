//! What is done to each store alike.

use std::time::{Duration, Instant};

use petalflow::checkpoint::{Address, Claim, Store, StoreError, StoredCheckpoint};
use petalflow_test_support::{Need, skip};

use super::other_process::{OtherProcess, given_server};
use super::servers::{Found, fresh_name};

/// A store on a server, which several processes can open.
pub(super) trait ServerStore: Store + Sized {
    /// The module of its tests, of which another process runs one.
    const TESTS: &'static str;

    /// How soon the claims of a process end that was killed, at the latest.
    const FREE_WITHIN: Duration;

    /// The url of the server that the tests share.
    fn server() -> Found<&'static str>;

    /// Opens the store of this name: of its schema, or of the prefix of its keys.
    async fn open(url: &str, name: &str) -> Result<Self, StoreError>;

    /// A store of the shared server that no other test uses, with what another process needs to open it too; or none and a
    /// word about it.
    async fn fresh(what: &str) -> Option<(Self, String)> {
        let url = Self::server()
            .inspect_err(|why| skip(Need::Installed, why))
            .ok()?;
        let name = fresh_name(what);
        let store = Self::open(url, &name).await.expect("the server is there");
        Some((store, format!("{url} {name}")))
    }

    /// The store that the first process has named; none where this is no other process.
    async fn given() -> Option<Self> {
        let given = given_server()?;
        let (url, name) = given.split_once(' ')?;
        Some(Self::open(url, name).await.expect("the server is there"))
    }

    /// Has another process run the test of this name on a store.
    fn other(test: &str, place: &str) -> OtherProcess {
        OtherProcess::start(&format!("{}::{test}", Self::TESTS), place)
    }
}

/// The tests that need another process, which runs one of them itself.
macro_rules! other_process_tests {
    ($store:ty) => {
        #[tokio::test]
        async fn a_killed_process_has_no_claims() {
            crate::stores::shared::a_killed_process_has_no_claims::<$store>().await;
        }

        #[tokio::test]
        async fn other_process_claims() {
            crate::stores::shared::claim_in_other_process::<$store>().await;
        }

        #[tokio::test]
        async fn processes_that_contend_lose_nothing() {
            crate::stores::shared::processes_that_contend_lose_nothing::<$store>().await;
        }

        #[tokio::test]
        async fn other_process_appends() {
            crate::stores::shared::append_in_other_process::<$store>().await;
        }
    };
}

pub(super) use other_process_tests;

pub(super) async fn a_killed_process_has_no_claims<S: ServerStore>() {
    let Some((store, place)) = S::fresh("killed").await else {
        return;
    };
    let mut process = S::other("other_process_claims", &place);
    process.wait_for("claimed");
    assert_eq!(store.claim("essay", "two").await.unwrap(), busy("one"));
    process.kill();
    granted_within(&store, S::FREE_WITHIN).await;
}

pub(super) async fn claim_in_other_process<S: ServerStore>() {
    let Some(store) = S::given().await else {
        return;
    };
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    println!("claimed");
    std::future::pending::<()>().await;
}

/// Two processes append: all that either has appended is there.
pub(super) async fn processes_that_contend_lose_nothing<S: ServerStore>() {
    let Some((store, place)) = S::fresh("contend").await else {
        return;
    };
    let process = S::other("other_process_appends", &place);
    append_many(&store).await;
    process.finish();
    let history = store.history(ESSAY, None, 1000).await.unwrap();
    let numbers: Vec<u64> = history.iter().rev().map(|found| found.seq).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

pub(super) async fn append_in_other_process<S: ServerStore>() {
    if let Some(store) = S::given().await {
        append_many(&store).await;
    }
}

/// Waits until the thread is free, and claims it.
pub(super) async fn granted_within(store: &impl Store, longest: Duration) {
    let begin = Instant::now();
    while store.claim("essay", "two").await.unwrap() != Claim::Granted {
        assert!(begin.elapsed() < longest, "still busy after {longest:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The thread of these tests.
pub(super) const ESSAY: Address<'static> = Address {
    thread: "essay",
    namespace: "",
};

pub(super) fn checkpoint(seq: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: 1_700_000_000_000 + seq,
        bytes: seq.to_be_bytes().to_vec(),
    }
}

pub(super) async fn append(
    store: &impl Store,
    seq: u64,
    after: Option<u64>,
) -> Result<(), StoreError> {
    store.append(ESSAY, &checkpoint(seq), after, 0..0).await
}

/// Appends 50 checkpoints, each after whatever is the newest.
async fn append_many(store: &impl Store) {
    let mut newest = None;
    let mut appended = 0;
    while appended < 50 {
        let seq = newest.map_or(1, |newest| newest + 1);
        match append(store, seq, newest).await {
            Ok(()) => {
                appended += 1;
                newest = Some(seq);
            }
            Err(StoreError::Conflict { found, .. }) => newest = found,
            Err(error) => panic!("{error:?}"),
        }
    }
}

pub(super) fn busy(owner: &str) -> Claim {
    Claim::Busy {
        owner: owner.into(),
    }
}

/// A server that is away: calls say so, and what a claim gives back meanwhile is given back later.
pub(super) async fn is_away(store: &impl Store) {
    let away = [
        append(store, 2, Some(1)).await.unwrap_err(),
        store.read(ESSAY, None).await.unwrap_err(),
        store.claim("other", "one").await.unwrap_err(),
    ];
    for error in away {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    store.release("other", "one");
}

/// The server is back: two stores on it go on.
pub(super) async fn is_back(store: &impl Store, other: &impl Store) {
    append(store, 2, Some(1)).await.unwrap();
    append(other, 3, Some(2)).await.unwrap();
    let read = store.read(ESSAY, None).await.unwrap();
    assert_eq!(read.unwrap().chain, [checkpoint(3)]);
}
