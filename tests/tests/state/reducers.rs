//! The reducers of keys, alone and in a run.

use std::collections::{BTreeMap, HashMap};

use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::state::{Message, Remove, reduce};

use crate::support::{expect_error, flow_and_graph, kind, run_both};

fn fold<T>(reducer: fn(&mut T, T), mut current: T, written: T) -> T {
    reducer(&mut current, written);
    current
}

#[test]
fn c21_g003_g004_lists() {
    assert_eq!(fold(reduce::append, vec![1, 2], vec![3, 4]), [1, 2, 3, 4]);
    assert_eq!(fold(reduce::append, vec![], vec![3]), [3], "nothing there");
    assert_eq!(
        fold(reduce::append, vec![3], vec![]),
        [3],
        "nothing written"
    );
    assert_eq!(
        fold(reduce::prepend, vec!['c', 'd'], vec!['a', 'b']),
        ['a', 'b', 'c', 'd']
    );
    assert_eq!(fold(reduce::prepend, vec![], vec!['a']), ['a']);
    assert_eq!(
        fold(reduce::prepend, "cd".to_string(), "ab".to_string()),
        "abcd"
    );
}

#[test]
fn c21_g005_numbers() {
    assert_eq!(fold(reduce::sum, 10, 5), 15);
    assert!((fold(reduce::sum, 1.5, 2.25) - 3.75_f64).abs() < f64::EPSILON);
    assert_eq!(fold(reduce::max, 5, 10), 10);
    assert_eq!(fold(reduce::max, -5, 0), 0);
    assert_eq!(fold(reduce::min, 10, 5), 5);
    assert_eq!(fold(reduce::min, -5, 0), -5);
}

#[test]
fn c21_g006_g008_maps_are_merged_into_a_value_of_their_own() {
    let (old, new) = (
        HashMap::from([("a", 1), ("b", 2)]),
        HashMap::from([("b", 3), ("c", 4)]),
    );
    let snapshot = old.clone();
    assert_eq!(
        fold(reduce::merge, old.clone(), new),
        HashMap::from([("a", 1), ("b", 3), ("c", 4)])
    );
    // agentmesh's MergeMap changes the map that the snapshot shares.
    assert_eq!(old, snapshot);
    assert_eq!(
        fold(reduce::merge, BTreeMap::new(), BTreeMap::from([("a", 1)])),
        BTreeMap::from([("a", 1)])
    );
}

#[test]
fn c21_g002_g007_replace_and_first() {
    assert_eq!(fold(reduce::replace, 1, 2), 2);
    assert_eq!(fold(reduce::first, "first", "second"), "first");
    assert_eq!(fold(reduce::first, "", "new"), "new");
}

#[test]
fn the_built_in_reducers_obey_the_laws() {
    petalflow_testing::check_reducer(reduce::append, [vec![], vec![1], vec![2, 3]]);
    petalflow_testing::check_reducer(reduce::prepend, [vec![], vec![1], vec![2, 3]]);
    petalflow_testing::check_reducer(reduce::sum, [0, 1, -7, 40]);
    petalflow_testing::check_reducer(reduce::min, [0, 1, -7, 40]);
    petalflow_testing::check_reducer(reduce::max, [0, 1, -7, 40]);
    petalflow_testing::check_reducer(reduce::first, ["", "a", "b"]);
    petalflow_testing::check_reducer(
        reduce::merge,
        [
            BTreeMap::new(),
            BTreeMap::from([("a", 1)]),
            BTreeMap::from([("a", 2), ("b", 3)]),
        ],
    );
}

#[test]
#[should_panic(expected = "must not depend on how writes are batched")]
fn the_law_checker_finds_a_reducer_that_depends_on_batches() {
    petalflow_testing::check_reducer(|current: &mut i32, written| *current -= written, [0, 1, 2]);
}

/// One key of each reducer.
#[state]
#[derive(Debug, PartialEq)]
struct Many {
    #[key(input)]
    round: u32,
    #[key(sum)]
    total: i64,
    #[key(min)]
    low: i64,
    #[key(min, default = 10)]
    low_from_ten: i64,
    #[key(max)]
    high: i64,
    #[key(first)]
    name: String,
    #[key(skip_zero, default = "existing".into())]
    kept: String,
    #[key(merge)]
    map: BTreeMap<String, u32>,
    #[key(prepend)]
    stack: Vec<u32>,
    #[key(reduce = longest)]
    longest: String,
}

fn longest(current: &mut String, written: String) {
    if written.len() > current.len() {
        *current = written;
    }
}

#[node(Many)]
async fn five() -> (
    ManyTotal,
    ManyLow,
    ManyLowFromTen,
    ManyHigh,
    ManyName,
    ManyKept,
    ManyStack,
    ManyLongest,
) {
    (
        ManyTotal(1),
        ManyLow(5),
        ManyLowFromTen(5),
        ManyHigh(-5),
        ManyName("first".into()),
        ManyKept(String::new()),
        ManyStack(vec![1, 2]),
        ManyLongest("aaa".into()),
    )
}

#[node(Many)]
async fn seven() -> (
    ManyTotal,
    ManyLow,
    ManyLowFromTen,
    ManyHigh,
    ManyName,
    ManyStack,
    ManyLongest,
    ManyMap,
) {
    let map = BTreeMap::from([("a".into(), 1), ("b".into(), 2)]);
    (
        ManyTotal(2),
        ManyLow(7),
        ManyLowFromTen(7),
        ManyHigh(-7),
        ManyName("second".into()),
        ManyStack(vec![3]),
        ManyLongest("bb".into()),
        ManyMap(map),
    )
}

#[node(Many)]
async fn later(low: &i64, name: &str) -> (ManyTotal, ManyMap, ManyName) {
    assert_eq!((*low, name), (5, "first"));
    (
        ManyTotal(4),
        ManyMap(BTreeMap::from([("b".into(), 3), ("c".into(), 4)])),
        ManyName("third".into()),
    )
}

flow_and_graph! { Both(Many) { START -> five & seven; five & seven -> later; } nodes: five, seven, later }

#[tokio::test]
async fn c21_g010_concurrent_writes_fold_from_the_current_value_never_from_zero() {
    let many = run_both!(Both, |launch| launch.run(1).await.unwrap());
    // agentmesh folds concurrent writes from Reducer.Zero() first: Min over 5 and 7 gives 0 there, Max over -5 and -7 too.
    assert_eq!((many.low, many.low_from_ten, many.high), (5, 5, -5));
}

#[tokio::test]
async fn c12_g011_each_key_folds_by_its_own_reducer() {
    let many = run_both!(Both, |launch| launch.run(1).await.unwrap());
    assert_eq!(many.total, 7);
    assert_eq!(many.name, "first");
    assert_eq!(
        many.map,
        BTreeMap::from([("a".into(), 1), ("b".into(), 3), ("c".into(), 4)])
    );
    assert_eq!(many.stack, [3, 1, 2]);
    assert_eq!(many.longest, "aaa");
    assert_eq!(many.kept, "existing", "skip_zero ignores an empty write");
    assert_eq!(many.round, 1);
}

#[node(Many)]
async fn nothing() {}

flow_and_graph! { Idle(Many) { nothing } nodes: nothing }

#[tokio::test]
async fn g002_g013_an_unwritten_key_holds_its_default() {
    let many = run_both!(Idle, |launch| launch.run(3).await.unwrap());
    let empty = Many {
        round: 3,
        total: 0,
        low: 0,
        low_from_ten: 10,
        high: 0,
        name: String::new(),
        kept: "existing".into(),
        map: BTreeMap::new(),
        stack: vec![],
        longest: String::new(),
    };
    assert_eq!(many, empty);
}

/// A total and what was seen of it.
#[state]
#[derive(Debug, PartialEq)]
struct Sums {
    #[key(input, sum)]
    n: u32,
    #[key(append)]
    seen: Vec<u32>,
}

#[node(Sums)]
async fn one_to_three() -> Each<u32> {
    Each(vec![1, 2, 3])
}

#[node(Sums)]
async fn add(#[item] number: &u32) -> SumsN {
    SumsN(*number)
}

#[node(Sums)]
async fn add_four(n: &u32) -> (SumsN, SumsSeen) {
    (SumsN(4), SumsSeen(vec![*n]))
}

flow_and_graph! { SumUp(Sums) { one_to_three -> each add -> add_four; } nodes: one_to_three, add, add_four }

#[tokio::test]
async fn c12_sums_add_up() {
    let sums = run_both!(SumUp, |launch| launch.run(0).await.unwrap());
    assert_eq!(
        sums,
        Sums {
            n: 10,
            seen: vec![6]
        }
    );
}

#[tokio::test]
async fn g043_input_goes_through_the_reducer() {
    assert_eq!(
        run_both!(SumUp, |launch| launch.run(100).await.unwrap()),
        Sums {
            n: 110,
            seen: vec![106]
        }
    );
}

#[node(Sums)]
async fn watch(n: &u32, seen: &[u32]) -> (SumsN, SumsSeen, bool) {
    (SumsN(1), SumsSeen(vec![*n]), seen.is_empty())
}

flow_and_graph! { Watch(Sums) { watch -> match { true => watch, false => END }; } nodes: watch }

#[tokio::test]
async fn c23_an_aggregate_is_visible_one_superstep_later() {
    assert_eq!(
        run_both!(Watch, |launch| launch.run(0).await.unwrap()),
        Sums {
            n: 2,
            seen: vec![0, 1]
        }
    );
}

/// A topic: a write of one superstep is visible in the next one only.
#[state]
#[derive(Debug, PartialEq)]
struct Topic {
    #[key(ephemeral, append)]
    messages: Vec<String>,
    #[key(append)]
    received: Vec<Vec<String>>,
    #[key(append)]
    all: Vec<String>,
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[node(Topic)]
async fn say_ab() -> (TopicMessages, TopicAll) {
    (
        TopicMessages(texts(&["a", "b"])),
        TopicAll(texts(&["a", "b"])),
    )
}

#[node(Topic)]
async fn say_cd(messages: &[String]) -> (TopicMessages, TopicReceived, TopicAll) {
    (
        TopicMessages(texts(&["c", "d"])),
        TopicReceived(vec![messages.to_vec()]),
        TopicAll(texts(&["c", "d"])),
    )
}

#[node(Topic)]
async fn say_d() -> (TopicMessages, TopicAll) {
    (TopicMessages(texts(&["d"])), TopicAll(texts(&["d"])))
}

#[node(Topic)]
async fn hear(messages: &[String]) -> TopicReceived {
    TopicReceived(vec![messages.to_vec()])
}

flow_and_graph! {
    Heard(Topic) { node hear_again = hear; say_ab -> say_cd & say_d; say_cd & say_d -> hear -> hear_again; }
    nodes: hear_again = |b| b.node_as("hear_again", hear {}), say_ab, say_cd, say_d, hear
}

#[tokio::test]
async fn c13_an_ephemeral_key_lasts_one_superstep() {
    let topic = run_both!(Heard, |launch| launch.run(()).await.unwrap());
    assert_eq!(
        topic.received,
        [texts(&["a", "b"]), texts(&["c", "d", "d"]), vec![]]
    );
    assert_eq!(
        topic.all,
        ["a", "b", "c", "d", "d"],
        "without `ephemeral` all is kept"
    );
    assert!(topic.messages.is_empty());
}

/// A line of a chat; `remove` makes it the removal of the line of that id.
#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
struct Line {
    id: Option<String>,
    text: String,
    remove: bool,
}

impl Message for Line {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn set_id(&mut self, id: String) {
        self.id = Some(id);
    }

    fn removes(&self) -> Option<Remove<'_>> {
        let id = self.id.as_deref().filter(|_| self.remove)?;
        Some(if id == "*" {
            Remove::All
        } else {
            Remove::One(id)
        })
    }
}

fn line(id: &str, text: &str) -> Line {
    Line {
        id: Some(id.into()),
        text: text.into(),
        remove: false,
    }
}

fn removal(id: &str) -> Line {
    Line {
        id: Some(id.into()),
        text: String::new(),
        remove: true,
    }
}

fn lines(current: Vec<Line>, written: Vec<Line>) -> Vec<Line> {
    fold(reduce::messages, current, written)
}

#[test]
fn c24_messages_append_replace_and_remove() {
    let (m1, m2) = (line("1", "hello"), line("2", "there"));
    assert_eq!(
        lines(vec![m1.clone()], vec![m2.clone()]),
        [m1.clone(), m2.clone()]
    );
    assert_eq!(
        lines(vec![m1.clone(), m2.clone()], vec![line("1", "hi")]),
        [line("1", "hi"), m2.clone()],
        "replaced in place"
    );
    assert_eq!(
        lines(vec![], vec![line("3", "first"), line("3", "last")]),
        [line("3", "last")],
        "the last of one id wins"
    );
    assert_eq!(
        lines(vec![m1.clone(), m2.clone()], vec![removal("1")]),
        vec![m2.clone()]
    );
    assert_eq!(lines(vec![m1.clone(), m2.clone()], vec![removal("*")]), []);
    assert_eq!(lines(vec![m1], vec![removal("*"), m2.clone()]), [m2]);
}

#[test]
fn c24_a_missing_id_is_filled_with_the_same_one_each_time() {
    let without_id = |text: &str| Line {
        text: text.into(),
        ..Line::default()
    };
    let once = lines(vec![line("1", "a")], vec![without_id("b"), without_id("c")]);
    let ids: Vec<_> = once.iter().map(|line| line.id.clone().unwrap()).collect();
    assert!(
        ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
        "{ids:?}"
    );
    assert_eq!(
        once,
        lines(vec![line("1", "a")], vec![without_id("b"), without_id("c")])
    );
}

#[state]
#[derive(Debug, PartialEq)]
struct Chat {
    #[key(input, messages)]
    lines: Vec<Line>,
}

#[node(Chat)]
async fn answer() -> ChatLines {
    ChatLines(vec![line("2", "hello yourself")])
}

#[node(Chat)]
async fn forget_the_unknown() -> ChatLines {
    ChatLines(vec![removal("9")])
}

flow_and_graph! { Answer(Chat) { answer } nodes: answer }
flow_and_graph! { Forget(Chat) { answer -> forget_the_unknown; } nodes: answer, forget_the_unknown }

#[tokio::test]
async fn g042_input_messages_are_folded_into_the_messages() {
    let chat = run_both!(Answer, |launch| launch
        .run(vec![line("1", "helo"), line("1", "hello")])
        .await
        .unwrap());
    assert_eq!(
        chat.lines,
        [line("1", "hello"), line("2", "hello yourself")]
    );
}

#[tokio::test]
async fn c24_the_removal_of_an_unknown_message_is_an_error_and_applies_nothing() {
    let (kind, state) = run_both!(Forget, |launch| {
        let error = expect_error(launch.run(vec![]).await);
        (
            error.kind().clone(),
            error.state::<Chat>().unwrap().lines.clone(),
        )
    });
    let RunErrorKind::Write { nodes, problem } = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(nodes, ["forget_the_unknown"]);
    assert!(
        problem.contains("`lines`") && problem.contains('9'),
        "{problem}"
    );
    assert_eq!(state, [line("2", "hello yourself")]);
}

#[tokio::test]
async fn c24_concurrent_removals_are_checked_against_each_other() {
    let kind = kind(RemoveTwice::run(vec![line("1", "hello")]).await);
    assert!(
        matches!(&kind, RunErrorKind::Write { nodes, .. } if *nodes == ["remove_one", "remove_one_too"]),
        "{kind:?}"
    );
}

#[node(Chat)]
async fn remove_one() -> ChatLines {
    ChatLines(vec![removal("1")])
}

#[node(Chat)]
async fn remove_one_too() -> ChatLines {
    ChatLines(vec![removal("1")])
}

flow! { RemoveTwice(Chat) { START -> remove_one & remove_one_too; } }
