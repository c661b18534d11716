//! A test that stored threads outlive a change of their flow.
//!
//! `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. This is for tests.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::durable::Fingerprint;
use crate::flow::{Flow, HasFlow};
use crate::state::{Durable, State};
use crate::upgrade::{FlowLock, Locked, check_lock};

/// Checks that stored threads of a flow can go on in this program: a test of one line, with a file that is committed.
///
/// The file holds what stored threads depend on: the keys with their types and reducers, the nodes and edges, the items and
/// the version of the state. The test fails when the flow differs from it:
///
/// * where threads may be unable to go on, it shows what differs and what to do: an `id` for what was renamed, a
///   [`Migration`](crate::state::Migration) and a higher version of the state;
/// * where they can go on, it asks to write the file anew.
///
/// `PETALFLOW_LOCK=write cargo test` writes the file, which also accepts a change of the first kind. A new flow is added
/// in the same way; one that is gone stays in the file until its lines are deleted.
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
/// fn stored_threads_go_on() {
///     petalflow::testing::assert_flow_lock!(WriteEssay, "flow.lock");
/// }
/// # petalflow::testing::assert_flow_lock!(WriteEssay, &lock);
/// # std::fs::remove_file(&lock)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// The first argument is a flow: one that `flow!` made, what its `new` makes (`WriteEssay::new()`, of a flow with node values;
/// none of them need be given), or a [`Graph`](crate::Graph). Several flows may share a file. A sub-flow is stored beside the
/// flow around it, and locked by a line of its own.
///
/// # Panics
///
/// When the flow differs from the file, or the file cannot be read or written.
#[macro_export]
#[doc(hidden)]
macro_rules! __assert_flow_lock {
    ($flow:expr, $path:expr $(,)?) => {
        $crate::testing::check_flow_lock(
            &$flow,
            &::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path),
        )
    };
}

/// What the macro does.
#[doc(hidden)]
#[track_caller]
pub fn check_flow_lock<S>(flow: &impl HasFlow<Flow: Flow<State = S>>, path: &Path)
where
    S: State<Storage = Durable>,
{
    let flow = flow.flow();
    let program = Fingerprint::of::<S>(flow.stored_name(), &flow.plan());
    let state = S::NAME;
    let locked = Locked::new(state, program.version, program.outline);
    let write = std::env::var_os("PETALFLOW_LOCK").is_some_and(|value| value == "write");
    if let Err(problem) = check(&program.flow, locked, path, write) {
        panic!("{}: {problem}", path.display());
    }
}

#[inline]
fn check(flow: &str, is: Locked, path: &Path, write: bool) -> Result<(), String> {
    if write {
        return rewrite(flow, is, path).map_err(|error| error.to_string());
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.to_string()),
    };
    check_lock(flow, FlowLock::parse(&text).get(flow), &is)
}

/// Tests run at once, in one process or in several: each holds the file while it reads and writes it.
#[inline]
fn rewrite(flow: &str, is: Locked, path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file: File = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut lock = FlowLock::parse(&text);
    lock.set(flow, is);
    let new = lock.text();
    if new != text {
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(new.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Outline;

    fn locked(keys: &[&str]) -> Locked {
        let schema = keys.iter().map(ToString::to_string).collect();
        let outline = Outline {
            graph: Vec::new(),
            schema,
        };
        Locked::new("Essay", 0, outline)
    }

    #[test]
    fn flows_share_a_file_that_tests_write_at_once() {
        let name = format!("petalflow-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let missing = check("a", locked(&[]), &path, false).unwrap_err();
        assert!(missing.contains("is not in the lock yet"), "{missing}");
        std::thread::scope(|scope| {
            for flow in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || check(flow, locked(&["k: u8 sum"]), path, true).unwrap());
            }
        });
        for flow in ["a", "b", "c", "d"] {
            assert_eq!(check(flow, locked(&["k: u8 sum"]), &path, false), Ok(()));
        }
        let stranded = check("a", locked(&[]), &path, false).unwrap_err();
        assert!(stranded.contains("\n  - key k: u8 sum"), "{stranded}");
        check("a", locked(&[]), &path, true).unwrap();
        assert_eq!(check("a", locked(&[]), &path, false), Ok(()));
        std::fs::remove_file(&path).unwrap();
    }
}
