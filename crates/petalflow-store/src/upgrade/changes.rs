//! The changes from one outline to another, and the threads that they break.

use super::reads::reads;
use crate::codec::Reducer;
use crate::codec::{GraphOutline, KeyOutline, Line, NodeOutline, Outline};
use crate::migration::Named;

/// A change of a program that stored threads may depend on. Names are those in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key does not exist any more.
    KeyRemoved { key: String },
    /// The key has no default, and is new or had a default before.
    KeyRequired { key: String },
    /// The values of the key have another type.
    KeyType {
        key: String,
        was: String,
        is: String,
    },
    /// The key has another reducer.
    KeyReducer {
        key: String,
        was: Reducer,
        is: Reducer,
    },
    /// The node does not exist any more.
    NodeRemoved { node: String },
    /// The node takes an item, and took none before.
    ItemNeeded { node: String },
    /// The node takes an item of another type.
    ItemType {
        node: String,
        was: String,
        is: String,
    },
    /// The join does not exist any more.
    JoinRemoved { join: String },
}

/// The parts of a program that one thread uses, by name. A name may occur twice.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    /// The keys that have a value.
    pub values: Vec<String>,
    /// The keys with stored writes that are not folded yet.
    pub writes: Vec<String>,
    /// The keys whose value or writes depend on the reducer with which they were stored.
    pub folded: Vec<String>,
    /// The nodes of the frontier.
    pub nodes: Vec<String>,
    /// The nodes of the frontier that have no item.
    pub nodes_without_item: Vec<String>,
    /// The joins with an arrival.
    pub joins: Vec<String>,
}

/// The changes from one outline to another.
pub(super) fn changes(was: &Outline, is: &Outline) -> Vec<Change> {
    let mut changes = key_changes(&was.keys, &is.keys);
    changes.append(&mut graph_changes(&was.graph, &is.graph));
    changes
}

/// The changes of the keys, which are sorted.
pub fn key_changes(was: &[KeyOutline], is: &[KeyOutline]) -> Vec<Change> {
    let mut changes = Vec::new();
    for was in was {
        let key = was.id.to_string();
        let Some(is) = KeyOutline::find(is, &was.id) else {
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
            let (was, is) = (was.reducer, is.reducer);
            changes.push(Change::KeyReducer { key, was, is });
        }
    }
    for is in is {
        if is.required && KeyOutline::find(was, &is.id).is_none() {
            let key = is.id.to_string();
            changes.push(Change::KeyRequired { key });
        }
    }
    changes
}

/// The changes of the graph.
pub fn graph_changes(was: &GraphOutline, is: &GraphOutline) -> Vec<Change> {
    let mut changes = Vec::new();
    for was in &was.nodes {
        let node = was.name.clone();
        let Some(is) = NodeOutline::find(&is.nodes, &was.name) else {
            changes.push(Change::NodeRemoved { node });
            continue;
        };
        match (&was.item, &is.item) {
            (None, Some(_)) => changes.push(Change::ItemNeeded { node }),
            (Some(was), Some(is)) if was != is => {
                let (was, is) = (was.clone(), is.clone());
                changes.push(Change::ItemType { node, was, is });
            }
            _ => {}
        }
    }
    for join in &was.joins {
        if !is.joins.contains(join) {
            changes.push(Change::JoinRemoved { join: join.clone() });
        }
    }
    changes
}

impl Change {
    /// Whether a thread that uses these parts cannot resume.
    pub fn breaks(&self, used: &InUse) -> bool {
        match self {
            Change::KeyRemoved { key } => used.values.contains(key) || used.writes.contains(key),
            Change::KeyRequired { key } => !used.values.contains(key),
            // The values decide, when they are decoded.
            Change::KeyType { .. } | Change::ItemType { .. } => false,
            Change::KeyReducer { key, .. } => used.folded.contains(key),
            Change::NodeRemoved { node } => used.nodes.contains(node),
            Change::ItemNeeded { node } => used.nodes_without_item.contains(node),
            Change::JoinRemoved { join } => used.joins.contains(join),
        }
    }

    /// Whether there can be a thread that cannot resume.
    pub fn may_break(&self) -> bool {
        match self {
            Change::KeyType { was, is, .. } | Change::ItemType { was, is, .. } => !reads(was, is),
            Change::KeyReducer { .. }
            | Change::KeyRemoved { .. }
            | Change::KeyRequired { .. }
            | Change::NodeRemoved { .. }
            | Change::ItemNeeded { .. }
            | Change::JoinRemoved { .. } => true,
        }
    }

    /// Whether a migration of the state can adapt threads to it.
    pub fn can_be_migrated(&self) -> bool {
        !matches!(
            self,
            Change::NodeRemoved { .. } | Change::ItemNeeded { .. } | Change::JoinRemoved { .. }
        )
    }

    /// The problem of a thread that cannot resume, and what to do.
    pub fn problem(&self, state: &str) -> String {
        match self {
            Change::KeyRemoved { key } => format!(
                "it has a value of the key `{key}`, which `{state}` does not store: if the key was renamed, give it its old name in storage with `#[key(id = \"{key}\")]`; otherwise convert or remove the value in a migration, `#[state(version = .., migrate = ..)]`"
            ),
            Change::KeyRequired { key } => format!(
                "it has no value of the key `{key}`, which has no default: give the key a default, `#[key(default)]`, or `put` a value in a migration"
            ),
            Change::KeyType { key, was, is } => format!(
                "the value of the key `{key}` is a `{was}`, and the program reads a `{is}`: convert it in a migration, `migration.map(\"{key}\", |old: {was}| ..)`"
            ),
            Change::KeyReducer { key, was, is } if !was.stores_writes() => format!(
                "its value of the key `{key}` was folded with `{was}`, and the next write is folded with `{is}`: convert the value in a migration, `migration.map(\"{key}\", ..)`, or give the key another name"
            ),
            Change::KeyReducer { key, was, is } => format!(
                "its writes to the key `{key}` fold with `{was}`, and the reducer of the key is `{is}` now: fold them in a migration, `migration.fold(\"{key}\", reduce::{was})`"
            ),
            Change::NodeRemoved { node } => format!(
                "it resumes at node `{node}`, which does not exist any more: if the node was renamed, give it its old name in storage with `with .. {{ id: \"{node}\" }}`; otherwise resume at another node with `Resume::goto`"
            ),
            Change::ItemNeeded { node } => format!(
                "it resumes at node `{node}` without an item, and the node takes an item now: take the item at a node of another name, or resume at another node with `Resume::goto`"
            ),
            Change::ItemType { node, was, is } => format!(
                "the item of node `{node}` is a `{was}`, and the program reads a `{is}`: convert it in a migration, `migration.map_item(\"{node}\", |old: {was}| ..)`"
            ),
            Change::JoinRemoved { join } => format!(
                "some sources of the join `{join}` have arrived, and the join does not exist any more: remove the join only after such threads have passed it, or resume at another node with `Resume::goto`"
            ),
        }
    }
}

/// The lines that differ, sorted by name: `-` for a line that was there, `+` for a line that is there now.
pub fn difference(was: Vec<Line>, is: Vec<Line>) -> Vec<String> {
    let is_in = |line: &Line, lines: &[Line]| lines.iter().any(|other| other.text == line.text);
    let mut lines_by_name: Named<Vec<String>> = Named::default();
    for (sign, lines, others) in [('-', &was, &is), ('+', &is, &was)] {
        for line in lines.iter().filter(|line| !is_in(line, others)) {
            let lines = lines_by_name.get_or(&line.name, Vec::new);
            lines.push(format!("{sign} {}", line.text));
        }
    }
    lines_by_name
        .into_iter()
        .flat_map(|(_, lines)| lines)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::key_lines;

    fn outline(lines: &[&str]) -> Outline {
        let mut outline = Outline::default();
        lines.iter().for_each(|line| outline.add_line(line));
        outline.sorted()
    }

    fn changes_of(was: &[&str], is: &[&str]) -> Vec<Change> {
        changes(&outline(was), &outline(is))
    }

    /// A thread that uses one part.
    fn uses(list: fn(&mut InUse) -> &mut Vec<String>, name: &str) -> InUse {
        let mut used = InUse::default();
        list(&mut used).push(name.into());
        used
    }

    /// There is one change, and it breaks a thread that uses `used`.
    #[track_caller]
    fn breaks(changes: &[Change], used: &InUse) {
        let [change] = changes else {
            panic!("{changes:?}")
        };
        assert!(change.may_break(), "{change:?}");
        assert!(change.breaks(used), "{change:?}");
    }

    #[track_caller]
    fn breaks_nothing(changes: &[Change]) {
        assert!(!changes.iter().any(Change::may_break), "{changes:?}");
    }

    #[test]
    fn additions_and_another_order_break_nothing() {
        assert_eq!(changes_of(&["key a: u8 sum"], &["key a: u8 sum"]), []);
        assert_eq!(
            changes_of(&["key a: u8 sum"], &["key a: u8 sum", "key b: u8 sum"]),
            []
        );
        breaks_nothing(&changes_of(
            &["node a"],
            &["node a", "node b", "edge a -> b"],
        ));
        breaks_nothing(&changes_of(&["edge a -> b", "node a"], &["node a"]));
        breaks_nothing(&changes_of(&["node a deferred"], &["node a"]));
        breaks_nothing(&changes_of(&["node a takes u8"], &["node a"]));
    }

    #[test]
    fn a_removed_key_breaks_threads_with_a_value() {
        let removed = changes_of(&["key a: u8 sum"], &[]);
        breaks(&removed, &uses(|used| &mut used.values, "a"));
        breaks(&removed, &uses(|used| &mut used.writes, "a"));
        assert!(!removed[0].breaks(&InUse::default()));
    }

    #[test]
    fn a_key_without_a_default_breaks_threads_without_a_value() {
        let new = changes_of(&[], &["key a: u8 replace required"]);
        breaks(&new, &InUse::default());
        let lost = changes_of(&["key a: u8 replace"], &["key a: u8 replace required"]);
        assert_eq!(lost, new);
        assert!(!lost[0].breaks(&uses(|used| &mut used.values, "a")));
        breaks_nothing(&changes_of(
            &["key a: u8 replace required"],
            &["key a: u8 replace"],
        ));
    }

    #[test]
    fn another_type_may_break_threads_unless_it_is_wider() {
        breaks_nothing(&changes_of(&["key a: u32 sum"], &["key a: u64 sum"]));
        let narrower = changes_of(&["key a: u64 sum"], &["key a: u32 sum"]);
        assert!(narrower[0].may_break());
        assert!(!narrower[0].breaks(&uses(|used| &mut used.values, "a")));
    }

    #[test]
    fn f42_any_other_reducer_breaks_threads_that_depend_on_the_one_before() {
        let names = ["replace", "append", "prepend", "sum", "min", "max"];
        let names = names
            .iter()
            .chain(&["merge", "first", "messages", "reduce"]);
        for (was, is) in names
            .clone()
            .flat_map(|was| names.clone().map(move |is| (was, is)))
        {
            let lines = [was, is].map(|reducer| format!("key a: u8 {reducer}"));
            let changes = changes_of(&[&lines[0]], &[&lines[1]]);
            if was == is {
                assert_eq!(changes, []);
                continue;
            }
            breaks(&changes, &uses(|used| &mut used.folded, "a"));
            // A migration has converted it.
            assert!(!changes[0].breaks(&uses(|used| &mut used.values, "a")));
        }
    }

    #[test]
    fn a_removed_node_breaks_threads_with_a_task_of_it() {
        let removed = changes_of(&["node a", "node b"], &["node b"]);
        breaks(&removed, &uses(|used| &mut used.nodes, "a"));
        assert!(!removed[0].breaks(&InUse::default()));
    }

    #[test]
    fn a_node_needs_an_item_that_it_can_read() {
        let needed = changes_of(&["node a"], &["node a takes u8"]);
        breaks(&needed, &uses(|used| &mut used.nodes_without_item, "a"));
        breaks_nothing(&changes_of(&["node a takes u8"], &["node a takes u16"]));
        let other = changes_of(&["node a takes Old"], &["node a takes New"]);
        assert!(other[0].may_break());
    }

    #[test]
    fn a_removed_join_breaks_threads_with_an_arrival() {
        let removed = changes_of(&["join a & b -> c"], &["join a & b & d -> c"]);
        breaks(&removed, &uses(|used| &mut used.joins, "a & b -> c"));
        assert!(!removed[0].breaks(&InUse::default()));
    }

    #[test]
    fn a_change_that_breaks_a_thread_may_break_threads() {
        let was = "key a: u8 append\nkey b: u8 append\nkey d: u64 sum\nnode n\nnode o\nnode p takes Old\njoin n & o -> p";
        let is = "key b: u8 sum\nkey c: u8 sum required\nkey d: u8 sum\nnode o takes u8\nnode p takes New";
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        let changes = changes_of(&lines(was), &lines(is));
        assert_eq!(changes.len(), 8, "{changes:?}");
        let names = || ["a", "b", "d", "n", "o", "p", "n & o -> p"].map(String::from);
        let everything = InUse {
            values: names().into(),
            writes: names().into(),
            folded: names().into(),
            nodes: names().into(),
            nodes_without_item: names().into(),
            joins: names().into(),
        };
        for change in changes {
            for used in [&everything, &InUse::default()] {
                assert!(!change.breaks(used) || change.may_break(), "{change:?}");
            }
        }
    }

    #[test]
    fn a_difference_shows_old_and_new_lines_of_a_name_together() {
        let was = outline(&["key a: u8 sum", "key b: u8 sum", "key z: u8 sum"]);
        let is = outline(&["key a: u16 sum", "key b: u8 sum", "key c: u8 sum"]);
        assert_eq!(
            difference(key_lines(&was.keys), key_lines(&is.keys)),
            [
                "- key a: u8 sum",
                "+ key a: u16 sum",
                "+ key c: u8 sum",
                "- key z: u8 sum"
            ]
        );
        let was = outline(&["node x", "edge x -> y"]).graph.lines();
        let is = outline(&["node x takes u8"]).graph.lines();
        assert_eq!(
            difference(was, is),
            ["- node x", "+ node x takes u8", "- edge x -> y"]
        );
    }
}
