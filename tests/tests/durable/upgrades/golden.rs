//! What this version stores, byte by byte: a change of the format must not go unnoticed, because threads that were stored in
//! it are still waiting.
//!
//! When the format is changed on purpose, keep the old bytes: a test shows whether they are read or refused.

use petalflow::checkpoint::{Address, InMemoryStore, Store as _, StoredCheckpoint, StoredWrite};
use petalflow::prelude::*;
use petalflow_test_support::assert_contains;

use crate::durable::upgrades::stop;

use crate::support::expect_finished;

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(input, default)]
    stops: bool,
    #[key(append, id = "remarks")]
    notes: Vec<String>,
    score: Option<f64>,
}

#[node(Essay)]
async fn plan() -> (EssayNotes, EssayScore, Each<(u8, String)>) {
    let parts = vec![(1, "roots".into()), (2, "leaves".into())];
    (
        EssayNotes(vec!["planned".into()]),
        EssayScore(Some(0.5)),
        Each(parts),
    )
}

#[node(Essay)]
async fn side() -> EssayNotes {
    EssayNotes(vec!["side".into()])
}

#[node(Essay)]
async fn dig(
    #[item] part: &(u8, String),
    stops: &bool,
    cx: Context,
) -> petalflow::Result<EssayNotes> {
    if *stops && part.0 == 2 {
        return stop();
    }
    let text = cx.once("look", async {
        Ok::<_, petalflow::BoxError>(format!("{} dug", part.1))
    });
    Ok(EssayNotes(vec![text.await?]))
}

#[node(Essay)]
async fn sum() -> EssayNotes {
    EssayNotes(vec!["summed up".into()])
}

#[node(Essay)]
async fn report() -> EssayNotes {
    EssayNotes(vec!["reported".into()])
}

flow! {
    WriteEssay(Essay) {
        START -> plan & side & report;
        plan -> each dig;
        dig & side -> sum;
        defer report;
    }
}

/// A complete checkpoint.
const FIRST: &str = "\
    0348aa57726974654573736179cfb149b3cfe8525aff00cf7ef8854df89526be929495a772656d61726b73ab5665633c5374 \
    72696e673ea6617070656e64c2c295a573636f7265ab4f7074696f6e3c6636343ea77265706c616365c2c295a573746f7073 \
    a4626f6f6ca77265706c616365c2c295a5746f706963a6537472696e67a77265706c616365c2c3939593a3646967ac287538 \
    2c20537472696e6729c293a4706c616ec0c293a67265706f7274c0c393a473696465c0c293a373756dc0c296ad5354415254 \
    202d3e20706c616eaf5354415254202d3e207265706f7274ad5354415254202d3e2073696465b2706c616e205b656163685d \
    202d3e20646967ad7265706f7274202d3e20454e44aa73756d202d3e20454e4491b164696720262073696465202d3e207375 \
    6d04c000c09193a67265706f7274c0c0909090909293a4706c616ec0c093a473696465c0c093a5746f70696300c407a67065 \
    74616c73a573746f707300c401c3a772656d61726b730090";

/// The one after it: writes to `remarks`, items, an arrival at the join, a deferred node.
const SECOND: &str = "\
    0341040001c0919302c0c09192b164696720262073696465202d3e2073756d91a47369646590909092930000c4089201a572 \
    6f6f7473930001c4099202a66c65617665739304c408a7706c616e6e656404c405a47369646508cb3fe0000000000000";

/// The records of the first `dig`: its result, and its record of `once`.
const DONE: &str = "979300cf7ef8854df89526becf056e9e8c10b69e59009192a772656d61726b73c40e9192c291a9726f6f747320647567009090c0";

/// The same result as earlier versions stored it: without a hash of each key.
const DONE_WITHOUT_HASHES: &str =
    "979200cf7ef8854df89526be009192a772656d61726b73c40e9192c291a9726f6f747320647567009090c0";

const ONCE: &str = "a9726f6f747320647567";

/// A checkpoint of layout 2, in which each part had a place in one list.
const LAYOUT_2: &str = "\
    029a94aa57726974654573736179cfb149b3cfe8525aff00cf7ef8854df89526be9600c0000100c09293a4706c616ec0c093 \
    a473696465c0c09193a67265706f7274c0c090909090929495a772656d61726b73ab5665633c537472696e673ea661707065 \
    6e64c2c295a573636f7265ab4f7074696f6e3c6636343ea77265706c616365c2c295a573746f7073a4626f6f6ca77265706c \
    616365c2c295a5746f706963a6537472696e67a77265706c616365c2c3939593a3646967ac2875382c20537472696e6729c2 \
    93a4706c616ec0c293a67265706f7274c0c393a473696465c0c293a373756dc0c296ad5354415254202d3e20706c616eaf53 \
    54415254202d3e207265706f7274ad5354415254202d3e2073696465b2706c616e205b656163685d202d3e20646967ad7265 \
    706f7274202d3e20454e44aa73756d202d3e20454e4491b164696720262073696465202d3e2073756d9393a5746f70696300 \
    c407a6706574616c7393a573746f707300c401c393a772656d61726b7300c40190";

/// A checkpoint of layout 1, which contained the outline of the program as text.
const LAYOUT_1: &str = "\
    019a94aa57726974654573736179cf2fa82de55b77ad5800cf4117669787384a9e9600c0000100c09293a4706c616ec0c093 \
    a473696465c0c09193a67265706f7274c0c090909090929cb265646765205354415254202d3e20706c616eb4656467652053 \
    54415254202d3e207265706f7274b265646765205354415254202d3e2073696465b76564676520706c616e205b656163685d \
    202d3e20646967b265646765207265706f7274202d3e20454e44af656467652073756d202d3e20454e44b66a6f696e206469 \
    6720262073696465202d3e2073756dbb6e6f6465206469672074616b6573202875382c20537472696e6729a96e6f64652070 \
    6c616eb46e6f6465207265706f7274206465666572726564a96e6f64652073696465a86e6f64652073756d94bb72656d6172 \
    6b733a205665633c537472696e673e20617070656e64ba73636f72653a204f7074696f6e3c6636343e207265706c616365b3 \
    73746f70733a20626f6f6c207265706c616365be746f7069633a20537472696e67207265706c616365207265717569726564 \
    9393a5746f70696300c407a6706574616c7393a573746f707300c401c393a772656d61726b7300c40190";

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    let hex: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.chunks(2).filter_map(byte).collect()
}

const ADDRESS: Address<'_> = Address {
    thread: "golden",
    namespace: "",
};

#[tokio::test]
async fn the_stored_bytes_have_not_changed() {
    let store = InMemoryStore::new();
    let thread = WriteEssay::new().store(&store).thread("golden");
    let input = EssayInput {
        topic: "petals".into(),
        stops: true,
    };
    thread.run(input).await.unwrap_err();
    let history = store.history(ADDRESS, None, 10).await.unwrap();
    let [second, first] = &history[..] else {
        panic!("{history:?}")
    };
    let writes = store.writes(ADDRESS, 0..9).await.unwrap();
    let write = |name: &str| {
        let found = writes.iter().find(|(_, write)| write.name == name);
        found.map_or_else(String::new, |(_, write)| hex(&write.bytes))
    };
    let stored = [
        hex(&first.bytes),
        hex(&second.bytes),
        write("done"),
        write("once/look"),
    ];
    let golden = [FIRST, SECOND, DONE, ONCE].map(|golden| hex(&bytes(golden)));
    assert_eq!(stored, golden, "the bytes that are stored have changed");
}

#[tokio::test]
async fn bytes_stored_by_earlier_versions_can_be_read() {
    let store = InMemoryStore::new();
    for (seq, golden) in [(0, FIRST), (1, SECOND)] {
        let checkpoint = StoredCheckpoint {
            seq,
            base: 0,
            created_ms: 0,
            bytes: bytes(golden),
        };
        let after = (seq > 0).then_some(0);
        store
            .append(ADDRESS, &checkpoint, after, 0..0, None)
            .await
            .unwrap();
    }
    let thread = WriteEssay::new().store(&store).thread("golden");
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.state.notes, ["planned", "side"]);
    assert_eq!(
        (snapshot.state.topic.as_str(), snapshot.state.score),
        ("petals", Some(0.5))
    );
    assert_eq!(snapshot.info.next, ["dig", "dig"]);
    // What the tasks left, beside the checkpoint.
    let task = task_of_the_first_dig().await;
    let left =
        [("done", DONE_WITHOUT_HASHES), ("once/look", ONCE)].map(|(name, golden)| StoredWrite {
            task,
            name: name.into(),
            bytes: bytes(golden),
        });
    store.write(ADDRESS, 1, &left, None).await.unwrap();
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert!(snapshot.tasks[0].finished && !snapshot.tasks[1].finished);
    thread
        .update(petalflow::thread::Edit::new(Overwrite(EssayStops(false))))
        .await
        .unwrap();
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(
        essay.notes,
        [
            "planned",
            "side",
            "roots dug",
            "leaves dug",
            "summed up",
            "reported"
        ]
    );
}

async fn task_of_the_first_dig() -> petalflow::event::TaskId {
    let store = InMemoryStore::new();
    let thread = WriteEssay::new().store(&store).thread("golden");
    let input = EssayInput {
        topic: "petals".into(),
        stops: true,
    };
    thread.run(input).await.unwrap_err();
    let writes = store.writes(ADDRESS, 0..9).await.unwrap();
    let done = writes.iter().find(|(_, write)| write.name == "done");
    done.unwrap().1.task
}

#[tokio::test]
async fn a_checkpoint_of_an_older_layout_is_refused() {
    for (layout, golden) in [(1, LAYOUT_1), (2, LAYOUT_2)] {
        let store = InMemoryStore::new();
        let checkpoint = StoredCheckpoint {
            seq: 0,
            base: 0,
            created_ms: 0,
            bytes: bytes(golden),
        };
        store
            .append(ADDRESS, &checkpoint, None, 0..0, None)
            .await
            .unwrap();
        let thread = WriteEssay::new().store(&store).thread("golden");
        let error = thread.snapshot().await.err().unwrap().to_string();
        assert_contains(
            &error,
            &format!(
                "checkpoint 0: it has layout {layout} of checkpoints, and this version of petalflow reads layout 3"
            ),
        );
        let stored = store.history(ADDRESS, None, 10).await.unwrap();
        assert_eq!(stored, [checkpoint], "a refused thread is not changed");
    }
}
