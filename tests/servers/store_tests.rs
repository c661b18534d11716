//! Tests that all stores on servers share.

use std::time::{Duration, Instant};

use petalflow::checkpoint::{Address, Claim, Store, StoreError, StoredCheckpoint};

use crate::other_process::{OtherProcess, server_of_first_process};
use crate::{Found, found_or_skip, fresh_name};

/// How the tests open a store on a server. Implemented by a type of the test program.
pub trait ServerStore {
    /// The store.
    type Store: Store;

    /// How soon the claims of a killed process end, at the latest.
    const FREE_WITHIN: Duration;

    /// The URL of the server that the tests share.
    fn server() -> Found<&'static str>;

    /// Opens the store of this name: of its schema, or of the prefix of its keys.
    fn open(url: &str, name: &str) -> impl Future<Output = Result<Self::Store, StoreError>>;
}

/// A store of the shared server that no other test uses, with what another process needs to open it too. Without a server,
/// reports a skip.
pub(crate) async fn fresh<S: ServerStore>(what: &str) -> Option<(S::Store, String)> {
    let url = found_or_skip(S::server())?;
    let name = fresh_name(what);
    let store = S::open(url, &name).await.expect("the server runs");
    Some((store, format!("{url} {name}")))
}

/// The store that the first process has named. `None` in the first process.
pub(crate) async fn store_of_first_process<S: ServerStore>() -> Option<S::Store> {
    let given = server_of_first_process()?;
    let (url, name) = given.split_once(' ')?;
    Some(S::open(url, name).await.expect("the server runs"))
}

/// The tests that start another process, which runs one of them itself. They stand at the root of the test program.
#[macro_export]
macro_rules! other_process_tests {
    ($kind:ty) => {
        #[tokio::test]
        async fn a_killed_process_has_no_claims() {
            $crate::store_tests::a_killed_process_has_no_claims::<$kind>().await;
        }

        #[tokio::test]
        async fn other_process_claims() {
            $crate::store_tests::claim_in_other_process::<$kind>().await;
        }

        #[tokio::test]
        async fn processes_that_contend_lose_nothing() {
            $crate::store_tests::processes_that_contend_lose_nothing::<$kind>().await;
        }

        #[tokio::test]
        async fn other_process_appends() {
            $crate::store_tests::append_in_other_process::<$kind>().await;
        }
    };
}

/// A killed process loses its claims.
pub async fn a_killed_process_has_no_claims<S: ServerStore>() {
    let Some((store, place)) = fresh::<S>("killed").await else {
        return;
    };
    let mut process = OtherProcess::start("other_process_claims", &place);
    process.wait_for("claimed");
    assert_eq!(
        store.claim("essay", "two").await.unwrap(),
        busy_claim("one")
    );
    process.kill();
    wait_for_claim(&store, S::FREE_WITHIN).await;
}

/// The other process of [`a_killed_process_has_no_claims`].
pub async fn claim_in_other_process<S: ServerStore>() {
    let Some(store) = store_of_first_process::<S>().await else {
        return;
    };
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    println!("claimed");
    std::future::pending::<()>().await;
}

/// Two processes append: nothing of either is lost.
pub async fn processes_that_contend_lose_nothing<S: ServerStore>() {
    let Some((store, place)) = fresh::<S>("contend").await else {
        return;
    };
    let process = OtherProcess::start("other_process_appends", &place);
    append_many(&store).await;
    process.finish();
    let history = store.history(ESSAY, None, 1000).await.unwrap();
    let numbers: Vec<u64> = history.iter().rev().map(|found| found.seq).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

/// The other process of [`processes_that_contend_lose_nothing`].
pub async fn append_in_other_process<S: ServerStore>() {
    if let Some(store) = store_of_first_process::<S>().await {
        append_many(&store).await;
    }
}

/// Waits until the thread is free, and claims it.
pub async fn wait_for_claim(store: &impl Store, longest: Duration) {
    let begin = Instant::now();
    while store.claim("essay", "two").await.unwrap() != Claim::Granted {
        assert!(begin.elapsed() < longest, "still busy after {longest:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The thread of these tests.
pub const ESSAY: Address<'static> = Address {
    thread: "essay",
    namespace: "",
};

/// A checkpoint with this number.
pub fn checkpoint(seq: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: 1_700_000_000_000 + seq,
        bytes: seq.to_be_bytes().to_vec(),
    }
}

/// Appends a checkpoint to [`ESSAY`].
pub async fn append(store: &impl Store, seq: u64, after: Option<u64>) -> Result<(), StoreError> {
    store
        .append(ESSAY, &checkpoint(seq), after, 0..0, None)
        .await
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

/// The claim of another owner.
pub fn busy_claim(owner: &str) -> Claim {
    Claim::Busy {
        owner: owner.into(),
    }
}

/// The server is stopped: calls fail with `Unavailable`, and a claim that is released meanwhile is released later.
pub async fn is_away(store: &impl Store) {
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

/// The server runs again: two stores on it work.
pub async fn is_back(store: &impl Store, other: &impl Store) {
    append(store, 2, Some(1)).await.unwrap();
    append(other, 3, Some(2)).await.unwrap();
    let read = store.read(ESSAY, None).await.unwrap();
    assert_eq!(read.unwrap().chain, [checkpoint(3)]);
}

/// Stores and reads a checkpoint that is larger than one TLS record.
pub async fn stores_large_checkpoint(store: &impl Store) {
    let large = StoredCheckpoint {
        bytes: vec![7; 100_000],
        ..checkpoint(1)
    };
    store.append(ESSAY, &large, None, 0..0, None).await.unwrap();
    let read = store.read(ESSAY, None).await.unwrap();
    assert_eq!(read.unwrap().chain, [large]);
}

/// The client refuses an unknown certificate before it sends anything.
pub fn assert_unknown_issuer(error: &StoreError) {
    let text = format!("{error:?}");
    assert!(text.contains("UnknownIssuer"), "{text}");
}
