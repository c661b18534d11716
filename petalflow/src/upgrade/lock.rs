//! `flow.lock`: the outlines of flows as text, and what may become of them.

use std::fmt;

use super::changes::{Held, changes, difference};
use crate::checkpoint::Outline;
use crate::migration::Named;

/// What the file begins with.
const HEAD: &str = "\
# What stored threads depend on. Written by `PETALFLOW_LOCK=write cargo test`; commit it.
";

/// What stored threads of some flows depend on, as text that is committed (`flow.lock`): the keys with their types and
/// reducers, the nodes and edges, the items, and the version of the state.
///
/// `petalflow_testing::assert_flow_lock!` is a test that compares a flow with such a file. Use this type for another way to
/// store the text.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::thread::FlowLock;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("about {topic}"))
/// }
///
/// flow!(WriteEssay(Essay) { write });
///
/// let mut lock = FlowLock::parse("");
/// assert!(lock.check(&WriteEssay).is_err());
/// lock.record(&WriteEssay);
/// lock.check(&WriteEssay)?;
/// assert_eq!(FlowLock::parse(&lock.to_string()), lock);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowLock(Named<Locked>);

/// What is locked of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Locked {
    pub(crate) state: String,
    /// The version of the state.
    pub(crate) version: u32,
    pub(crate) outline: Outline,
}

impl FlowLock {
    /// Reads a lock. Unknown lines are skipped: what [`check`](Self::check) then misses, it reports.
    #[inline]
    pub fn parse(text: &str) -> Self {
        let mut flows: Named<Locked> = Named::default();
        let mut current = String::new();
        for line in text.lines() {
            let (line, inner) = match line.strip_prefix("  ") {
                Some(line) => (line, true),
                None => (line, false),
            };
            if let Some(name) = line.strip_prefix("flow ").filter(|_| !inner) {
                current = name.trim().into();
                flows.get_or(&current, Locked::default);
                continue;
            }
            let Some(locked) = flows.get_mut(&current).filter(|_| inner) else {
                continue;
            };
            if let Some(state) = line.strip_prefix("state ") {
                let (state, version) = state.rsplit_once(" version ").unwrap_or((state, "0"));
                locked.state = state.into();
                locked.version = version.trim().parse().unwrap_or_default();
            } else if let Some(key) = line.strip_prefix("key ") {
                locked.outline.schema.push(key.into());
            } else {
                locked.outline.graph.push(line.into());
            }
        }
        FlowLock(flows)
    }

    #[inline]
    pub(crate) fn get(&self, flow: &str) -> Option<&Locked> {
        self.0.get(flow)
    }

    #[inline]
    pub(crate) fn set(&mut self, flow: &str, locked: Locked) {
        self.0.insert(flow.into(), locked);
    }
}

/// The text of the file: sorted, so that it changes only where a flow does.
impl fmt::Display for FlowLock {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (name, locked) in self.0.iter() {
            write!(f, "\nflow {name}\n")?;
            for line in locked.lines() {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

impl Locked {
    #[inline]
    pub(crate) fn new(state: &str, version: u32, outline: Outline) -> Self {
        Locked {
            state: state.into(),
            version,
            outline,
        }
    }

    #[inline]
    fn head(&self) -> String {
        format!("state {} version {}", self.state, self.version)
    }

    #[inline]
    fn lines(&self) -> Vec<String> {
        let Outline { graph, schema } = &self.outline;
        let mut keys: Vec<String> = schema.iter().map(|key| format!("key {key}")).collect();
        let mut graph = graph.clone();
        keys.sort_unstable();
        graph.sort_unstable();
        let mut lines = vec![self.head()];
        lines.extend(keys);
        lines.extend(graph);
        lines
    }
}

/// Whether the program may take the place of the locked one; if not, or if the lock is to be written anew, what to do.
#[inline]
pub(crate) fn check_lock(flow: &str, was: Option<&Locked>, is: &Locked) -> Result<(), String> {
    let Some(was) = was else {
        return Err(format!(
            "the flow `{flow}` is not in the lock yet: write it with `PETALFLOW_LOCK=write cargo test`, and commit the file"
        ));
    };
    if was.lines() == is.lines() {
        return Ok(());
    }
    let mut diff = Vec::new();
    if was.head() != is.head() {
        diff.push(format!("- {}", was.head()));
        diff.push(format!("+ {}", is.head()));
    }
    let keys = difference(&was.outline.schema, &is.outline.schema);
    // As in the file.
    diff.extend(keys.iter().map(|line| line.replacen(' ', " key ", 1)));
    diff.extend(difference(&was.outline.graph, &is.outline.graph));
    let diff: String = diff.iter().flat_map(|line| ["\n  ", line]).collect();
    let accept = "`PETALFLOW_LOCK=write cargo test`";
    let mut problems = Vec::new();
    if is.version < was.version {
        problems.push(format!(
            "its threads are at version {} of `{}`, which this program is too old to read: raise `version` again",
            was.version, is.state
        ));
    }
    for change in changes(&was.outline, &is.outline) {
        // What becomes of keys and items is the migration's business; it cannot move a thread to another node.
        let migrated = is.version > was.version && change.can_be_migrated();
        if change.strands(Held::Anything) && !migrated {
            problems.push(change.problem(&is.state));
        }
    }
    if problems.is_empty() {
        return Err(format!(
            "the flow `{flow}` has changed. Stored threads can go on: write the lock anew with {accept}, and commit it{diff}"
        ));
    }
    let problems = problems.iter().flat_map(|problem| ["\n\n* ", problem]);
    let problems: String = problems.collect();
    Err(format!(
        "the flow `{flow}` has changed, and stored threads may be unable to go on. Of such a thread it would be said:{problems}\n\nIf there is none, accept the change with {accept}:{diff}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(version: u32, schema: &[&str], graph: &[&str]) -> Locked {
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        let outline = Outline {
            graph: owned(graph),
            schema: owned(schema),
        };
        Locked::new("Essay", version, outline)
    }

    fn said(was: &Locked, is: &Locked) -> String {
        check_lock("Write", Some(was), is).unwrap_err()
    }

    #[test]
    fn a_lock_comes_back_as_it_was_written() {
        let mut lock = FlowLock::default();
        lock.set(
            "Write",
            locked(
                3,
                &["b: u8 sum", "a: u8 sum"],
                &["node w", "edge START -> w"],
            ),
        );
        lock.set("Read", locked(0, &[], &[]));
        let text = lock.to_string();
        assert_eq!(
            text.strip_prefix(HEAD).unwrap(),
            "\nflow Read\n  state Essay version 0\n\nflow Write\n  state Essay version 3\n  key a: u8 sum\n  key b: u8 sum\n  edge START -> w\n  node w\n"
        );
        assert_eq!(FlowLock::parse(&text).to_string(), text);
        // As a checkout on Windows may have it.
        assert_eq!(
            FlowLock::parse(&text.replace('\n', "\r\n")).to_string(),
            text
        );
        assert_eq!(FlowLock::parse("? \n flow\n  key a"), FlowLock::default());
    }

    #[test]
    fn the_order_of_lines_does_not_matter() {
        let was = locked(0, &["a: u8 sum", "b: u8 sum"], &["node w", "node x"]);
        let is = locked(0, &["b: u8 sum", "a: u8 sum"], &["node x", "node w"]);
        assert_eq!(check_lock("Write", Some(&was), &is), Ok(()));
    }

    #[test]
    fn a_change_that_passes_asks_for_a_new_lock() {
        let said = said(&locked(0, &[], &[]), &locked(0, &["a: u8 sum"], &[]));
        assert!(
            said.contains("Stored threads can go on: write the lock anew"),
            "{said}"
        );
        assert!(said.ends_with("\n  + key a: u8 sum"), "{said}");
        let missing = check_lock("Write", None, &locked(0, &[], &[])).unwrap_err();
        assert!(
            missing.contains("`PETALFLOW_LOCK=write cargo test`"),
            "{missing}"
        );
    }

    #[test]
    fn a_change_that_strands_says_how_not_to() {
        let (was, is) = (["a: u8 sum"], ["b: u8 sum"]);
        let said_of = |version| said(&locked(0, &was, &[]), &locked(version, &is, &[]));
        let said = said_of(0);
        assert!(said.contains("`#[key(id = \"a\")]`"), "{said}");
        assert!(
            said.ends_with("\n  - key a: u8 sum\n  + key b: u8 sum"),
            "{said}"
        );
        let said = said_of(1);
        assert!(said.contains("Stored threads can go on"), "{said}");
    }

    #[test]
    fn no_migration_brings_back_a_node_or_a_version() {
        let said_of = said(&locked(0, &[], &["node w"]), &locked(1, &[], &["node x"]));
        assert!(said_of.contains("`with .. { id: \"w\" }`"), "{said_of}");
        let said_of = said(&locked(2, &[], &[]), &locked(1, &[], &[]));
        assert!(said_of.contains("raise `version` again"), "{said_of}");
    }
}
