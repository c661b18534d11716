//! What has changed from one outline to another, and whom it strands.

use super::reads::reads;
use crate::checkpoint::{KeyLine, NodeLine, Outline};
use crate::migration::Named;
use crate::state::by_writes;

/// One thing that stored threads may depend on and that has changed. Names are those in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// There is a key of this name no more.
    KeyRemoved { key: String },
    /// The key is new, or has lost its default, and must have a value.
    KeyRequired { key: String },
    /// The values of the key are of another type.
    KeyType {
        key: String,
        was: String,
        is: String,
    },
    /// The writes to the key fold in another way.
    KeyReducer {
        key: String,
        was: String,
        is: String,
    },
    /// There is a node of this name no more.
    NodeRemoved { node: String },
    /// The node takes an item, and did not.
    ItemNeeded { node: String },
    /// The node takes an item of another type.
    ItemType {
        node: String,
        was: String,
        is: String,
    },
    /// There is no such join any more.
    JoinRemoved { join: String },
    /// Anything that no thread can depend on.
    Harmless,
}

/// What a thread holds, as far as a change may matter to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held<'a> {
    /// Whatever a thread may hold: for `flow.lock`, which knows of no thread in particular.
    Anything,
    /// What one thread holds. Whether values of another type can be read is not asked here, but of the values.
    Just(&'a InUse),
}

/// What one thread holds, by name, in no order; a name may be there twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct InUse {
    /// The keys that have a value.
    pub(crate) values: Vec<String>,
    /// The keys whose value is stored as writes that have yet to fold.
    pub(crate) writes: Vec<String>,
    /// The nodes that are to run.
    pub(crate) nodes: Vec<String>,
    /// Those of them that run without an item.
    pub(crate) bare: Vec<String>,
    /// The joins that hold an arrival.
    pub(crate) joins: Vec<String>,
}

/// What has changed from one outline to another.
#[inline]
pub(crate) fn changes(was: &Outline, is: &Outline) -> Vec<Change> {
    let mut changes = Vec::new();
    keys(was, is, &mut changes);
    nodes(was, is, &mut changes);
    joins(was, is, &mut changes);
    if changes.is_empty() && was != is {
        changes.push(Change::Harmless);
    }
    changes
}

#[inline]
fn keys(was: &Outline, is: &Outline, changes: &mut Vec<Change>) {
    let read = |outline: &Outline| -> Named<KeyLine<'static>> {
        let lines = outline.schema.iter().filter_map(|line| {
            let key = KeyLine::parse(line)?.into_owned();
            Some((key.id.to_string(), key))
        });
        lines.collect()
    };
    let (was, is) = (read(was), read(is));
    for (id, was) in was.iter() {
        let key = id.clone();
        let Some(is) = is.get(id) else {
            changes.push(Change::KeyRemoved { key });
            continue;
        };
        if is.required && !was.required {
            let key = key.clone();
            changes.push(Change::KeyRequired { key });
        }
        if is.ty != was.ty {
            let (key, was, is) = (key.clone(), was.ty.to_string(), is.ty.to_string());
            changes.push(Change::KeyType { key, was, is });
        }
        if is.reducer != was.reducer {
            let (was, is) = (was.reducer.to_string(), is.reducer.to_string());
            changes.push(Change::KeyReducer { key, was, is });
        }
    }
    for (id, is) in is.iter() {
        if is.required && was.get(id).is_none() {
            changes.push(Change::KeyRequired { key: id.clone() });
        }
    }
}

#[inline]
fn nodes(was: &Outline, is: &Outline, changes: &mut Vec<Change>) {
    let read = |outline: &Outline| -> Named<Option<String>> {
        let lines = outline.graph.iter().filter_map(|line| {
            let node = NodeLine::parse(line)?;
            Some((node.name.to_string(), node.takes.map(Into::into)))
        });
        lines.collect()
    };
    let (was, is) = (read(was), read(is));
    for (name, was) in was.iter() {
        let node = name.clone();
        match (was, is.get(name)) {
            (_, None) => changes.push(Change::NodeRemoved { node }),
            (None, Some(Some(_))) => changes.push(Change::ItemNeeded { node }),
            (Some(was), Some(Some(is))) if was != is => {
                let (was, is) = (was.clone(), is.clone());
                changes.push(Change::ItemType { node, was, is });
            }
            _ => {}
        }
    }
}

#[inline]
fn joins(was: &Outline, is: &Outline, changes: &mut Vec<Change>) {
    for line in &was.graph {
        if let Some(join) = line.strip_prefix("join ")
            && !is.graph.contains(line)
        {
            changes.push(Change::JoinRemoved { join: join.into() });
        }
    }
}

impl Change {
    /// Whether the threads that hold this can go on no more.
    #[inline]
    pub(crate) fn strands(&self, held: Held<'_>) -> bool {
        let any = |of: fn(&InUse) -> &Vec<String>, name: &String| match held {
            Held::Anything => true,
            Held::Just(used) => of(used).contains(name),
        };
        match self {
            Change::KeyRemoved { key } => {
                any(|used| &used.values, key) || any(|used| &used.writes, key)
            }
            Change::KeyRequired { key } => match held {
                Held::Anything => true,
                Held::Just(used) => !used.values.contains(key),
            },
            Change::KeyType { was, is, .. } | Change::ItemType { was, is, .. } => match held {
                Held::Anything => !reads(was, is),
                Held::Just(_) => false,
            },
            Change::KeyReducer { key, was, .. } => by_writes(was) && any(|used| &used.writes, key),
            Change::NodeRemoved { node } => any(|used| &used.nodes, node),
            Change::ItemNeeded { node } => any(|used| &used.bare, node),
            Change::JoinRemoved { join } => any(|used| &used.joins, join),
            Change::Harmless => false,
        }
    }

    /// Whether a migration of the state can see to it.
    #[inline]
    pub(crate) fn can_be_migrated(&self) -> bool {
        match self {
            Change::KeyRemoved { .. }
            | Change::KeyRequired { .. }
            | Change::KeyType { .. }
            | Change::KeyReducer { .. }
            | Change::ItemType { .. } => true,
            Change::NodeRemoved { .. }
            | Change::ItemNeeded { .. }
            | Change::JoinRemoved { .. }
            | Change::Harmless => false,
        }
    }

    /// What is wrong for those whom it strands, and what to do about it.
    #[inline]
    pub(crate) fn problem(&self, state: &str) -> String {
        match self {
            Change::KeyRemoved { key } => format!(
                "it has a value of the key `{key}`, which `{state}` does not store: a key that was renamed keeps its name in storage with `#[key(id = \"{key}\")]`; a migration says what becomes of its value, `#[state(version = .., migrate = ..)]`"
            ),
            Change::KeyRequired { key } => format!(
                "it has no value of the key `{key}`, which has no default: give the key one, `#[key(default)]`, or `put` a value in a migration"
            ),
            Change::KeyType { key, was, is } => format!(
                "the value of the key `{key}` is a `{was}`, and now a `{is}`: convert it in a migration, `migration.map(\"{key}\", |old: {was}| ..)`"
            ),
            Change::KeyReducer { key, was, is } => format!(
                "what was written to the key `{key}` folds with `{was}`, and now with `{is}`: fold it in a migration, `migration.fold(\"{key}\", reduce::{was})`"
            ),
            Change::NodeRemoved { node } => format!(
                "it goes on at node `{node}`, which is gone: a node that was renamed keeps its name in storage with `with .. {{ id: \"{node}\" }}`; `Resume::goto` says where else to go on"
            ),
            Change::ItemNeeded { node } => format!(
                "it goes on at node `{node}`, which takes an item now, and has none for it: take the item at a node of another name; `Resume::goto` says where else to go on"
            ),
            Change::ItemType { node, was, is } => format!(
                "the item of node `{node}` is a `{was}`, and now a `{is}`: convert it in a migration, `migration.map_item(\"{node}\", |old: {was}| ..)`"
            ),
            Change::JoinRemoved { join } => format!(
                "the join `{join}` has been reached from some of its sides, and is gone: keep it until such threads have passed it; `Resume::goto` says where else to go on"
            ),
            Change::Harmless => "it has changed".into(),
        }
    }
}

/// The lines that differ: `-` as it was, `+` as it is. What is about one name stands together.
#[inline]
pub(crate) fn difference(was: &[String], is: &[String]) -> Vec<String> {
    let name = |line: &str| {
        let node = NodeLine::parse(line).map(|node| node.name.into_owned());
        let key = || KeyLine::parse(line).map(|key| key.id.into_owned());
        node.or_else(key).unwrap_or_else(|| line.to_string())
    };
    // By name, so that a line stands beside what became of it.
    let mut by_name: Named<[Vec<String>; 2]> = Named::default();
    for (side, lines, others) in [(0, was, is), (1, is, was)] {
        let mut others = others.to_vec();
        others.sort_unstable();
        for line in lines {
            if others.binary_search(line).is_err() {
                let sides = by_name.get_or(&name(line), Default::default);
                sides[side].push(line.clone());
            }
        }
    }
    let mut signed = Vec::new();
    for sides in by_name.values_mut() {
        for (sign, lines) in ['-', '+'].into_iter().zip(sides) {
            lines.sort_unstable();
            signed.extend(lines.iter().map(|line| format!("{sign} {line}")));
        }
    }
    signed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(schema: &[&str], graph: &[&str]) -> Outline {
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        Outline {
            graph: owned(graph),
            schema: owned(schema),
        }
    }

    fn of_keys(was: &[&str], is: &[&str]) -> Vec<Change> {
        changes(&outline(was, &[]), &outline(is, &[]))
    }

    fn of_graph(was: &[&str], is: &[&str]) -> Vec<Change> {
        changes(&outline(&[], was), &outline(&[], is))
    }

    /// A thread that holds one thing.
    fn used(set: fn(&mut InUse) -> &mut Vec<String>, name: &str) -> InUse {
        let mut used = InUse::default();
        set(&mut used).push(name.into());
        used
    }

    /// The change strands some threads: not those that hold nothing, but those that hold `used`.
    #[track_caller]
    fn strands(changes: &[Change], used: &InUse) {
        let [change] = changes else {
            panic!("{changes:?}")
        };
        assert!(change.strands(Held::Anything), "{change:?}");
        assert!(change.strands(Held::Just(used)), "{change:?}");
    }

    #[track_caller]
    fn passes(changes: &[Change]) {
        for change in changes {
            assert!(!change.strands(Held::Anything), "{change:?}");
        }
    }

    #[test]
    fn what_is_added_or_reordered_passes() {
        assert_eq!(of_keys(&["a: u8 sum"], &["a: u8 sum"]), []);
        assert_eq!(
            of_keys(&["a: u8 sum"], &["a: u8 sum", "b: u8 sum"]),
            [Change::Harmless]
        );
        passes(&of_graph(&["node a"], &["node a", "node b", "edge a -> b"]));
        passes(&of_graph(&["edge a -> b", "node a"], &["node a"]));
        passes(&of_graph(&["node a deferred"], &["node a"]));
        passes(&of_graph(&["node a takes u8"], &["node a"]));
    }

    #[test]
    fn a_removed_key_strands_who_holds_a_value() {
        let gone = of_keys(&["a: u8 sum"], &[]);
        strands(&gone, &used(|used| &mut used.values, "a"));
        strands(&gone, &used(|used| &mut used.writes, "a"));
        assert!(!gone[0].strands(Held::Just(&InUse::default())));
    }

    #[test]
    fn a_key_without_a_default_strands_who_holds_no_value() {
        let new = of_keys(&[], &["a: u8 replace required"]);
        strands(&new, &InUse::default());
        let lost = of_keys(&["a: u8 replace"], &["a: u8 replace required"]);
        assert_eq!(lost, new);
        let holds = used(|used| &mut used.values, "a");
        assert!(!lost[0].strands(Held::Just(&holds)));
        passes(&of_keys(&["a: u8 replace required"], &["a: u8 replace"]));
    }

    #[test]
    fn another_type_strands_unless_it_is_wider() {
        passes(&of_keys(&["a: u32 sum"], &["a: u64 sum"]));
        let narrower = of_keys(&["a: u64 sum"], &["a: u32 sum"]);
        assert!(narrower[0].strands(Held::Anything));
        // Of a thread, its values are asked.
        let holds = used(|used| &mut used.values, "a");
        assert!(!narrower[0].strands(Held::Just(&holds)));
    }

    #[test]
    fn another_reducer_strands_where_writes_are_stored() {
        passes(&of_keys(&["a: u8 sum"], &["a: u8 max"]));
        passes(&of_keys(&["a: Vec<u8> replace"], &["a: Vec<u8> append"]));
        let changed = of_keys(&["a: Vec<u8> append"], &["a: Vec<u8> prepend"]);
        strands(&changed, &used(|used| &mut used.writes, "a"));
        let folded = used(|used| &mut used.values, "a");
        assert!(!changed[0].strands(Held::Just(&folded)));
    }

    #[test]
    fn a_removed_node_strands_who_goes_on_there() {
        let gone = of_graph(&["node a", "node b"], &["node b"]);
        strands(&gone, &used(|used| &mut used.nodes, "a"));
        assert!(!gone[0].strands(Held::Just(&InUse::default())));
    }

    #[test]
    fn items_must_be_there_and_be_read() {
        let needed = of_graph(&["node a"], &["node a takes u8"]);
        strands(&needed, &used(|used| &mut used.bare, "a"));
        passes(&of_graph(&["node a takes u8"], &["node a takes u16"]));
        let other = of_graph(&["node a takes Old"], &["node a takes New"]);
        assert!(other[0].strands(Held::Anything));
    }

    #[test]
    fn a_changed_join_strands_who_has_reached_it() {
        let gone = of_graph(&["join a & b -> c"], &["join a & b & d -> c"]);
        strands(&gone, &used(|used| &mut used.joins, "a & b -> c"));
        assert!(!gone[0].strands(Held::Just(&InUse::default())));
    }

    #[test]
    fn what_the_lock_lets_pass_strands_no_thread() {
        let name = || "x".to_string();
        let (was, is) = (|| "append".to_string(), || "sum".to_string());
        let reducer = |was, is| Change::KeyReducer {
            key: name(),
            was,
            is,
        };
        let ty = |was: &str, is: &str| Change::KeyType {
            key: name(),
            was: was.into(),
            is: is.into(),
        };
        let item = |was: &str, is: &str| Change::ItemType {
            node: name(),
            was: was.into(),
            is: is.into(),
        };
        let all = [
            Change::KeyRemoved { key: name() },
            Change::KeyRequired { key: name() },
            reducer(was(), is()),
            reducer(is(), was()),
            ty("u8", "u16"),
            ty("u16", "u8"),
            item("u8", "u16"),
            item("u16", "u8"),
            Change::ItemNeeded { node: name() },
            Change::NodeRemoved { node: name() },
            Change::JoinRemoved { join: name() },
            Change::Harmless,
        ];
        let one = || vec![name()];
        let everything = InUse {
            values: one(),
            writes: one(),
            nodes: one(),
            bare: one(),
            joins: one(),
        };
        for change in all {
            for used in [&everything, &InUse::default()] {
                let strands = change.strands(Held::Just(used));
                assert!(!strands || change.strands(Held::Anything), "{change:?}");
            }
        }
    }

    #[test]
    fn a_difference_shows_what_became_of_a_line() {
        let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            difference(
                &lines(&["a: u8 sum", "b: u8 sum", "node x", "z: u8 sum"]),
                &lines(&["a: u16 sum", "b: u8 sum", "c: u8 sum", "node x takes u8"]),
            ),
            [
                "- a: u8 sum",
                "+ a: u16 sum",
                "+ c: u8 sum",
                "- node x",
                "+ node x takes u8",
                "- z: u8 sum"
            ]
        );
    }
}
