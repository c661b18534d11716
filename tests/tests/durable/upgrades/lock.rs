//! `flow.lock`, as a test uses it.

use std::panic::catch_unwind;

use petalflow::prelude::*;
use petalflow_test_support::assert_starts_with;
use petalflow_testing::assert_flow_lock;

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append, id = "remarks")]
    notes: Vec<String>,
    #[key(untracked)]
    scratch: u8,
}

#[node(Essay)]
async fn plan(topic: &str) -> Each<String> {
    Each(vec![topic.into()])
}

#[node(Essay)]
async fn dig(#[item] topic: &String) -> EssayNotes {
    EssayNotes(vec![topic.clone()])
}

#[node(Essay)]
async fn gather() {}

#[node(Essay)]
async fn side() {}

#[node(Essay)]
async fn last() {}

flow! {
    #[flow(id = "Write")]
    WriteEssay(Essay) {
        START -> plan & side;
        plan -> each dig -> gather;
        gather & side -> last;
    }
}

const LOCK: &str = "\
# What stored threads depend on. Written by `PETALFLOW_LOCK=write cargo test`; commit it.

flow Write
  state Essay version 0
  key remarks: Vec<String> append
  key topic: String replace required
  edge START -> plan
  edge START -> side
  edge dig -> gather
  edge last -> END
  edge plan [each] -> dig
  join gather & side -> last
  node dig takes String
  node gather
  node last
  node plan
  node side
";

/// The message of the test for this lock.
fn lock_error(name: &str, lock: Option<&str>) -> Option<String> {
    let name = format!("petalflow-{name}-{}.lock", std::process::id());
    let path = std::env::temp_dir().join(name);
    if let Some(lock) = lock {
        std::fs::write(&path, lock).unwrap();
    }
    let result = catch_unwind(|| assert_flow_lock!(WriteEssay, &path));
    let _ = std::fs::remove_file(&path);
    let message = result.err()?.downcast::<String>().unwrap();
    Some(message.split_once(".lock: ").unwrap().1.to_string())
}

#[test]
fn an_unchanged_flow_passes() {
    // Written, it would be accepted whatever it holds.
    if std::env::var_os("PETALFLOW_LOCK").is_some() {
        return;
    }
    assert_eq!(lock_error("same", Some(LOCK)), None);
    let launched = Some(LOCK.replace('\n', "\r\n"));
    assert_eq!(lock_error("crlf", launched.as_deref()), None);
    let message = lock_error("missing", None).unwrap();
    assert_starts_with(&message, "the flow `Write` is not in the lock yet: ");
}

#[test]
fn a_change_fails_with_the_difference_and_the_solution() {
    if std::env::var_os("PETALFLOW_LOCK").is_some() {
        return;
    }
    let message = lock_error("added", Some(&LOCK.replace("  node side\n", ""))).unwrap();
    assert_eq!(
        message,
        "the flow `Write` has changed. Stored threads can resume: write the lock again with `PETALFLOW_LOCK=write cargo test`, and commit it\n  + node side"
    );
    let lock = LOCK.replace("remarks: Vec<String>", "notes: Vec<String>");
    let message = lock_error(
        "renamed",
        Some(&lock.replace("node gather", "node collect")),
    )
    .unwrap();
    assert_eq!(
        message,
        "\
the flow `Write` has changed, and stored threads may be unable to resume. The problems of such a thread:

* it has a value of the key `notes`, which `Essay` does not store: if the key was renamed, give it its old name in storage with `#[key(id = \"notes\")]`; otherwise convert or remove the value in a migration, `#[state(version = .., migrate = ..)]`

* it resumes at node `collect`, which does not exist any more: if the node was renamed, give it its old name in storage with `with .. { id: \"collect\" }`; otherwise resume at another node with `Resume::goto`

If there are no such threads, accept the change with `PETALFLOW_LOCK=write cargo test`:
  - key notes: Vec<String> append
  + key remarks: Vec<String> append
  - node collect
  + node gather"
    );
}

/// What a node is made with that nothing but a program can give.
struct Voice(String);

#[node(Essay)]
impl Voice {
    async fn voice(&self) -> EssayNotes {
        EssayNotes(vec![self.0.clone()])
    }
}

flow! {
    Speak(Essay) {
        node voice: Voice;
        node echo: Voice = Voice("echo".into());
        START -> voice -> echo;
    }
}

const SPEAK: &str = "\
flow Speak
  state Essay version 0
  key remarks: Vec<String> append
  key topic: String replace required
  edge START -> voice
  edge echo -> END
  edge voice -> echo
  node echo
  node voice
";

#[test]
fn a_flow_whose_values_must_be_given_is_locked_without_them() {
    let path = std::env::temp_dir().join(format!("petalflow-values-{}.lock", std::process::id()));
    std::fs::write(&path, SPEAK).unwrap();
    assert_flow_lock!(Speak::new(), &path);
    assert_flow_lock!(Speak::new().voice(Voice("hm".into())), &path);
    assert_flow_lock!(Speak::new().voice(Voice("hm".into())).launch(), &path);
    std::fs::remove_file(&path).unwrap();
}

/// States of one name in two versions of a program.
mod before {
    use petalflow::prelude::*;

    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(super) struct Remark {
        pub(super) text: String,
        pub(super) line: Option<u32>,
    }

    #[state]
    pub(super) struct Review {
        #[key(append)]
        pub(super) remarks: Vec<Remark>,
        #[key(sum)]
        pub(super) total: u32,
    }

    #[node(Review)]
    pub(super) async fn look() -> (ReviewRemarks, ReviewTotal) {
        let remark = Remark {
            text: "short".into(),
            line: Some(3),
        };
        (ReviewRemarks(vec![remark]), ReviewTotal(95))
    }

    flow!(pub(super) Look(Review) { look });
}

mod renamed {
    use petalflow::prelude::*;

    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(super) struct Remark {
        pub(super) words: String,
        pub(super) at: Option<u32>,
    }

    #[state]
    pub(super) struct Review {
        #[key(append)]
        pub(super) remarks: Vec<Remark>,
        pub(super) total: u32,
    }

    #[node(Review)]
    pub(super) async fn look() -> ReviewTotal {
        ReviewTotal(5)
    }

    flow!(pub(super) Look(Review) { look });
}

mod with_aliases {
    use petalflow::prelude::*;

    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(super) struct Remark {
        #[serde(alias = "text")]
        pub(super) words: String,
        #[serde(alias = "line")]
        pub(super) at: Option<u32>,
        #[serde(default)]
        pub(super) by: String,
    }

    #[state]
    pub(super) struct Review {
        #[key(append)]
        pub(super) remarks: Vec<Remark>,
        #[key(sum)]
        pub(super) total: u32,
    }

    #[node(Review)]
    pub(super) async fn look() -> ReviewTotal {
        ReviewTotal(5)
    }

    flow!(pub(super) Look(Review) { look });
}

#[tokio::test]
async fn a_renamed_field_and_another_reducer_are_changes() {
    use petalflow::checkpoint::InMemoryStore;
    use petalflow::thread::FlowLock;

    let mut lock = FlowLock::default();
    lock.record(&before::Look);
    let text = lock.to_string();
    assert!(
        text.contains(
            "  key remarks: Vec<Remark> append
  key total: u32 sum
  field remarks.line: option of u32 optional
  field remarks.text: text
  field remarks: list of struct
"
        ),
        "{text}"
    );
    let lock = FlowLock::parse(&text);
    assert!(lock.check(&before::Look).is_ok());

    let message = lock.check(&renamed::Look).unwrap_err().to_string();
    for words in [
        "stored threads may be unable to resume",
        "has the field `line`, which the program does not read",
        "has the field `text`, which the program does not read",
        "has no field `words`, which the program needs",
        "its value of the key `total` was folded with `sum`, and the next write is folded with `replace`",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(!message.contains("has no field `at`"), "{message}");

    let message = lock.check(&with_aliases::Look).unwrap_err().to_string();
    assert!(message.contains("Stored threads can resume"), "{message}");

    // A thread says the same.
    let store = InMemoryStore::new();
    let thread = before::Look::new().store(&store).thread("t");
    thread
        .run(())
        .await
        .unwrap()
        .into_finished()
        .expect("it ends");
    let thread = with_aliases::Look::new().store(&store).thread("t");
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let remark = &snapshot.state.remarks[0];
    assert_eq!(
        (&*remark.words, remark.at, &*remark.by),
        ("short", Some(3), "")
    );
    let thread = renamed::Look::new().store(&store).thread("t");
    assert!(thread.snapshot().await.is_err());
}
