//! A test that stored threads can resume after a change of their flow.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use petalflow::thread::{FlowLock, FlowLockError};

/// Checks that stored threads of a flow can resume in this program: a test of one line, with a file that is committed.
///
/// The file lists what stored threads depend on: the keys with their types and reducers, the nodes and edges, the items and
/// the version of the state. The test fails when the flow differs from it:
///
/// * if threads may be unable to resume, it shows what differs and what to do: an `id` for what was renamed, a
///   [`Migration`](petalflow::state::Migration) and a higher version of the state;
/// * if they can resume, it asks to write the file again.
///
/// `PETALFLOW_LOCK=write cargo test` writes the file, which also accepts a change of the first kind. A new flow is added
/// in the same way. A removed flow stays in the file until its lines are deleted.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// pub struct Essay {
///     #[key(input)]
///     pub topic: String,
///     #[key(append)]
///     pub notes: Vec<String>,
/// }
///
/// #[node(Essay)]
/// async fn research(topic: &str) -> EssayNotes {
///     EssayNotes(vec![format!("facts about {topic}")])
/// }
///
/// flow!(pub WriteEssay(Essay) { research });
///
/// # let lock = std::env::temp_dir().join(format!("petalflow-doc-{}.lock", std::process::id()));
/// # std::fs::write(&lock, "flow WriteEssay\n  state Essay version 0\n  key notes: Vec<String> append\n  key topic: String replace required\n  edge START -> research\n  edge research -> END\n  node research\n")?;
/// // A test; the path is relative to the package's `Cargo.toml`.
/// fn stored_threads_resume() {
///     petalflow_testing::assert_flow_lock!(WriteEssay, "flow.lock");
/// }
/// # petalflow_testing::assert_flow_lock!(WriteEssay, &lock);
/// # std::fs::remove_file(&lock)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// The first argument is a flow: one that `flow!` made, what its `new` makes (`WriteEssay::new()`, of a flow with node values;
/// none of them need be given), or a [`Graph`](petalflow::Graph). Several flows may share a file. A nested flow is stored beside the
/// flow that contains it, and needs a line of its own.
///
/// # Panics
///
/// When the flow differs from the file, or the file cannot be read or written.
#[macro_export]
macro_rules! assert_flow_lock {
    ($flow:expr, $path:expr $(,)?) => {
        match &$flow {
            flow => $crate::__private::check_flow_lock(
                &::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path),
                |lock| lock.check(flow),
                |lock| lock.record(flow),
            ),
        }
    };
}

/// Checks that recorded answers to a question can be read in this program, like [`assert_flow_lock!`](crate::assert_flow_lock)
/// for a flow. The lock of a flow does not have the questions of its nodes.
///
/// ```
/// #[derive(serde::Serialize, petalflow::interrupt::Ask)]
/// #[ask(answer = u32, name = "amount")]
/// struct Amount;
///
/// # let lock = std::env::temp_dir().join(format!("petalflow-doc-question-{}.lock", std::process::id()));
/// # std::fs::write(&lock, "question amount: u32\n")?;
/// fn recorded_answers_are_read() {
///     petalflow_testing::assert_question_lock!(Amount, "flow.lock");
/// }
/// # petalflow_testing::assert_question_lock!(Amount, &lock);
/// # std::fs::remove_file(&lock)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// When the type of the answer differs from the file, or the file cannot be read or written.
#[macro_export]
macro_rules! assert_question_lock {
    ($question:ty, $path:expr $(,)?) => {
        $crate::__private::check_flow_lock(
            &::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path),
            |lock| lock.check_question::<$question>(),
            |lock| lock.record_question::<$question>(),
        )
    };
}

/// Checks that recorded results of an effect can be read in this program, like
/// [`assert_question_lock!`](crate::assert_question_lock) for a question.
///
/// ```
/// # let lock = std::env::temp_dir().join(format!("petalflow-doc-effect-{}.lock", std::process::id()));
/// # std::fs::write(&lock, "effect receipt: u32\n")?;
/// fn recorded_effects_are_read() {
///     petalflow_testing::assert_effect_lock!("receipt": u32, "flow.lock");
/// }
/// # petalflow_testing::assert_effect_lock!("receipt": u32, &lock);
/// # std::fs::remove_file(&lock)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// When the type of the result differs from the file, or the file cannot be read or written.
#[macro_export]
macro_rules! assert_effect_lock {
    ($name:literal : $result:ty, $path:expr $(,)?) => {
        $crate::__private::check_flow_lock(
            &::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path),
            |lock| lock.check_effect::<$result>($name),
            |lock| lock.record_effect::<$result>($name),
        )
    };
}

/// The function behind the macro: `check` compares the flow with a lock, `record` writes it into one.
///
/// # Panics
///
/// If the flow is not in the lock, differs from it, or the file cannot be read or written.
#[track_caller]
pub fn check_flow_lock(
    path: &Path,
    check: impl FnOnce(&FlowLock) -> Result<(), FlowLockError>,
    record: impl FnOnce(&mut FlowLock),
) {
    let write = std::env::var_os("PETALFLOW_LOCK").is_some_and(|value| value == "write");
    let checked = if write {
        rewrite(path, record).map_err(|error| error.to_string())
    } else {
        compare(path, check)
    };
    if let Err(problem) = checked {
        panic!("{}: {problem}", path.display());
    }
}

fn compare(
    path: &Path,
    check: impl FnOnce(&FlowLock) -> Result<(), FlowLockError>,
) -> Result<(), String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.to_string()),
    };
    check(&FlowLock::parse(&text)).map_err(|error| error.to_string())
}

/// Tests run at once, in one process or in several: each locks the file while it reads and writes it.
fn rewrite(path: &Path, record: impl FnOnce(&mut FlowLock)) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut lock = FlowLock::parse(&text);
    record(&mut lock);
    let new = lock.to_string();
    if new != text {
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(new.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use petalflow::graph::Graph;
    use petalflow::prelude::*;

    use super::*;

    #[state]
    struct Count {
        #[key(sum)]
        k: u8,
    }

    #[node(Count)]
    async fn add() -> CountK {
        CountK(1)
    }

    #[node(Count)]
    async fn double(k: &u8) -> CountK {
        CountK(*k)
    }

    fn graph(name: &str) -> Graph<Count> {
        let builder = Graph::builder(name).node(add {});
        builder.edge(START, "add").edge("add", END).build().unwrap()
    }

    fn other_graph(name: &str) -> Graph<Count> {
        let builder = Graph::builder(name).node(double {});
        builder
            .edge(START, "double")
            .edge("double", END)
            .build()
            .unwrap()
    }

    #[test]
    fn flows_share_a_file_that_tests_write_at_once() {
        let name = format!("petalflow-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let missing = compare(&path, |lock| lock.check(&graph("a"))).unwrap_err();
        assert!(missing.contains("is not in the lock yet"), "{missing}");
        std::thread::scope(|scope| {
            for flow in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || rewrite(path, |lock| lock.record(&graph(flow))).unwrap());
            }
        });
        for flow in ["a", "b", "c", "d"] {
            assert_eq!(compare(&path, |lock| lock.check(&graph(flow))), Ok(()));
        }
        let stranded = compare(&path, |lock| lock.check(&other_graph("a"))).unwrap_err();
        assert!(stranded.contains("\n  - node add"), "{stranded}");
        rewrite(&path, |lock| lock.record(&other_graph("a"))).unwrap();
        assert_eq!(compare(&path, |lock| lock.check(&other_graph("a"))), Ok(()));
        std::fs::remove_file(&path).unwrap();
    }
}
