//! Threads of an encrypted store as files, and these files in a replay.

use std::collections::BTreeMap;

use petalflow::checkpoint::{Address, InMemoryStore, Store, StoreError};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{Retention, StoredThreads, Thread, ThreadError, ThreadFile};
use petalflow_encryption::{Encryption, ProtectedStore};
use petalflow_testing::{Replay, ReplayReport};
use serde_json::Value;

use super::key;

/// A text that the program marks as secret, and one that it does not mark.
const CARD: &str = "4000-1234-5678";
const IBAN: &str = "DE00-7788-9911";

/// An order whose texts are repeated wherever a thread has values.
#[state]
struct Order {
    #[key(input)]
    euros: u32,
    #[key(input, secret)]
    card: String,
    #[key(input)]
    iban: String,
    by_card: BTreeMap<String, u32>,
    #[key(append)]
    log: Vec<String>,
    #[key(append, inbox)]
    notes: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct MayPay {
    card: String,
    iban: String,
}

#[node(Order)]
async fn count(card: &str, euros: &u32) -> (OrderByCard, OrderLog) {
    let counted = BTreeMap::from([(card.to_owned(), *euros)]);
    let line = format!("{euros} euros from {card}");
    (OrderByCard(counted), OrderLog(vec![line]))
}

#[node(Order)]
async fn charge(card: &str, iban: &str, cx: Context) -> petalflow::Result<OrderLog> {
    let question = MayPay {
        card: card.to_owned(),
        iban: iban.to_owned(),
    };
    let answer = cx.ask(question).await?;
    let charged = async { Ok::<_, petalflow::BoxError>(format!("{card} to {iban}: {answer}")) };
    Ok(OrderLog(vec![cx.once("charge", charged).await?]))
}

#[node(Order)]
async fn tell(log: &[String]) -> OrderLog {
    OrderLog(vec![format!("{} lines", log.len())])
}

flow!(Sell(Order) { count -> charge -> tell });

/// The program of today: a node writes something else.
mod today {
    use petalflow::prelude::*;

    use super::{Order, OrderLog, charge, count};

    #[node(Order)]
    async fn tell(log: &[String]) -> OrderLog {
        OrderLog(vec![format!("{} entries", log.len())])
    }

    flow!(pub(super) Sell(Order) { count -> charge -> tell });
}

fn thread(store: impl Store + Clone) -> Thread<Sell> {
    let threads = Sell::new().store(&store);
    let threads = threads.retention(Retention::ALL.with_results());
    threads.thread("order-7")
}

fn encrypted(inner: &InMemoryStore, byte: u8) -> ProtectedStore {
    ProtectedStore::new(inner.clone(), Encryption::new(key(byte)))
}

/// A thread that has asked a person and ended, with a message that no run has taken.
async fn sold(store: impl Store + Clone) {
    let thread = thread(store);
    let input = OrderInput {
        euros: 70,
        card: CARD.into(),
        iban: IBAN.into(),
    };
    let paused = thread.run(input).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let answer = format!("yes, from {CARD}");
    let ended = thread.answer::<MayPay>(answer).await.unwrap();
    assert_eq!(ended.into_finished().unwrap().log.len(), 3);
    let note = OrderNotes(vec![format!("is {CARD} right?")]);
    thread.send(note).await.unwrap();
}

/// All bytes that a store has of the thread: the payloads, with the names of the writes.
async fn stored(store: &InMemoryStore) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut namespaces = store.namespaces("order-7").await.unwrap();
    namespaces.push(String::new());
    for namespace in &namespaces {
        let address = Address {
            thread: "order-7",
            namespace,
        };
        let checkpoints = store.history(address, None, usize::MAX).await.unwrap();
        all.extend(checkpoints.into_iter().map(|stored| stored.bytes));
        let writes = store.writes(address, 0..u64::MAX).await.unwrap();
        all.extend(writes.into_iter().map(|(_, write)| write.bytes));
    }
    all
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The file as it is read again.
fn read_again(file: &ThreadFile) -> ThreadFile {
    let read: ThreadFile = file.to_string().parse().unwrap();
    assert_eq!(&read, file);
    read
}

/// The rows: superstep, node, what, name, expected, found.
fn rows(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter().map(|row| {
        let (node, kind, name) = (row.node.as_deref(), row.kind, &row.name);
        let (superstep, expected, found) = (row.superstep, &row.expected, &row.found);
        format!("{superstep:?} {node:?} {kind} {name}: {expected} => {found}")
    });
    rows.collect()
}

#[tokio::test]
async fn f44_a_thread_of_an_encrypted_store_is_exported_without_secrets_and_replays() {
    let inner = InMemoryStore::new();
    sold(encrypted(&inner, 1)).await;
    let sealed = stored(&inner).await;
    assert!(sealed.len() > 6, "{} payloads", sealed.len());
    assert!(
        !sealed
            .iter()
            .any(|bytes| has(bytes, b"4000") || has(bytes, b"DE00"))
    );

    let file = thread(encrypted(&inner, 1)).export().await.unwrap();
    let text = file.to_string();
    assert!(
        !text.contains("4000-") && !text.contains("1234-5678"),
        "{text}"
    );
    assert_eq!(file.removed(), ["card"]);
    assert!(text.contains("70 euros from [removed]"), "{text}");
    assert!(text.contains("is [removed] right?"), "{text}");
    assert!(text.contains(IBAN), "it is not marked: {text}");

    // Neither the secret nor what is sealed is in it as digits.
    let digits = |bytes: &[u8]| -> String {
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        digits.collect()
    };
    assert!(!text.contains(&digits(CARD.as_bytes())), "{text}");
    for bytes in &sealed {
        let end = &bytes[bytes.len() - 16..];
        assert!(!text.contains(&digits(end)), "{text}");
    }

    // The file is the same as that of a store in clear, so nothing that was encrypted is in it.
    let clear = InMemoryStore::new();
    sold(clear.clone()).await;
    let in_clear = thread(clear).export().await.unwrap();
    assert_eq!(without_times(file.json()), without_times(in_clear.json()));

    let file = read_again(&file);
    let replay = || Replay::of_file(file.clone());
    replay().flow(Sell::new()).check().await;
    let changed = replay().flow(today::Sell::new()).run("tell").report().await;
    let expected = r#"Some((1, 3)) Some("tell") output log/0: "2 lines" => "2 entries""#;
    assert_eq!(rows(&changed), [expected]);
}

#[tokio::test]
async fn f44_keys_that_are_named_are_removed_from_a_thread_of_an_encrypted_store() {
    let inner = InMemoryStore::new();
    sold(encrypted(&inner, 1)).await;
    let keys = ["card", "iban"];
    let stored = StoredThreads::new(&encrypted(&inner, 1));
    let file = stored.export("order-7", keys).await.unwrap();
    let named = [String::from("iban")];
    let typed = thread(encrypted(&inner, 1)).export_without(&named).await;
    for file in [file, typed.unwrap()] {
        let text = file.to_string();
        assert!(!text.contains("4000-") && !text.contains("DE00-"), "{text}");
        assert_eq!(file.removed(), keys);
        Replay::of_file(read_again(&file))
            .flow(Sell::new())
            .check()
            .await;
    }
}

#[tokio::test]
async fn f44_an_export_without_the_key_is_an_error_that_names_the_thread_and_the_key() {
    let inner = InMemoryStore::new();
    sold(encrypted(&inner, 1)).await;
    let problem = |result: Result<ThreadFile, ThreadError>| match result {
        Err(ThreadError::Store(StoreError::Protection(problem))) => problem,
        other => panic!("{other:?}"),
    };
    let lacks = "it is sealed, and this program uses the store without";
    for (problem, part) in [
        (problem(thread(inner.clone()).export().await), lacks),
        (
            problem(StoredThreads::new(&inner).export("order-7", ["card"]).await),
            lacks,
        ),
        (
            problem(thread(encrypted(&inner, 2)).export().await),
            "add the key with `also_accept`",
        ),
    ] {
        assert!(problem.contains(part), "{problem}");
        assert!(problem.contains("order-7"), "{problem}");
        assert!(!problem.contains("4000-"), "{problem}");
    }
}

/// Removes the times, in which two threads differ.
fn without_times(json: &Value) -> Value {
    match json {
        Value::Array(items) => items.iter().map(without_times).collect(),
        Value::Object(map) => {
            let entries = map
                .iter()
                .filter(|(name, _)| !name.ends_with("_ms") && *name != "$bytes");
            let entries = entries.map(|(name, value)| (name.clone(), without_times(value)));
            entries.collect()
        }
        // The question has the time when it was asked.
        Value::Number(number) if number.as_u64().is_some_and(|number| number > 1 << 40) => {
            Value::Null
        }
        other => other.clone(),
    }
}
