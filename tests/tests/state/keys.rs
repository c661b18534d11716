//! The options of keys while a flow runs.

use petalflow::prelude::*;
use petalflow::state::{KeyFlag, KeyMeta, Reducer};

use crate::support::{flow_and_graph, run_both};

/// A key for each option.
#[state]
#[derive(Debug, PartialEq)]
struct Keys {
    #[key(input)]
    given: String,
    #[key(input, default = 7)]
    number: u32,
    plain: u32,
    #[key(default = "unset".into())]
    named: String,
    #[key(sum, turn)]
    rounds: u32,
    #[key(skip_zero, default = 5)]
    kept: u32,
    #[key(min)]
    low: i32,
    #[key(max, default = -100)]
    high: i32,
    #[key(first)]
    winner: Option<String>,
    #[key(ephemeral, default = 1)]
    flash: u32,
    #[key(untracked, append)]
    scratch: Vec<u32>,
    #[key(id = "old_name", default)]
    renamed: u32,
}

fn input(given: &str) -> KeysInput {
    KeysInput {
        given: given.into(),
        ..KeysInput::default()
    }
}

#[test]
fn the_metadata_of_the_keys() {
    let key = |name: &str| Keys::KEYS.iter().find(|key| key.name == name).unwrap();
    assert_eq!(Keys::KEYS.len(), 12);
    assert_eq!((key("renamed").id, key("named").id), ("old_name", "named"));
    assert_eq!(
        (
            key("plain").reducer,
            key("rounds").reducer,
            key("low").reducer
        ),
        (Reducer::Replace, Reducer::Sum, Reducer::Min)
    );
    let having = |property: KeyFlag| {
        Keys::KEYS
            .iter()
            .filter(|key| key.has(property))
            .map(|key| key.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(having(KeyFlag::Input), ["given", "number"]);
    assert_eq!(having(KeyFlag::Turn), ["rounds"]);
    assert_eq!(having(KeyFlag::Ephemeral), ["flash"]);
    assert_eq!(having(KeyFlag::Untracked), ["scratch"]);
    assert_eq!(having(KeyFlag::SkipZero), ["kept"]);
    assert!(
        !key("plain").has(KeyFlag::Assigned)
            && key("named").has(KeyFlag::Assigned)
            && key("given").has(KeyFlag::Assigned)
    );
    assert_eq!(
        KeyMeta::set(Keys::KEYS, KeyFlag::Input)
            .iter()
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

#[node(Keys)]
async fn nothing() {}

flow_and_graph! { Nothing(Keys) { nothing } nodes: nothing }

#[tokio::test]
async fn c44_defaults_and_input() {
    let keys = run_both!(Nothing, |launch| launch.run(input("x")).await.unwrap());
    assert_eq!(
        (
            keys.given.as_str(),
            keys.number,
            keys.named.as_str(),
            keys.kept,
            keys.high
        ),
        ("x", 7, "unset", 5, -100)
    );
    let keys = run_both!(Nothing, |launch| launch
        .run(KeysInput {
            given: "x".into(),
            number: 8
        })
        .await
        .unwrap());
    assert_eq!(keys.number, 8);
}

#[tokio::test]
async fn c44_input_comes_as_data() {
    // LangGraph ignores a key that it does not know.
    let data = |text: &str| serde_json::from_str::<KeysInput>(text);
    let keys = run_both!(Nothing, |launch| {
        launch
            .run(data(r#"{"given": "x", "number": 8}"#).unwrap())
            .await
            .unwrap()
    });
    assert_eq!((keys.given.as_str(), keys.number), ("x", 8));
    let keys = run_both!(Nothing, |launch| launch
        .run(data(r#"{"given": "x"}"#).unwrap())
        .await
        .unwrap());
    assert_eq!(keys.number, 7, "its default");
    for (text, error) in [
        (
            r#"{"given": "x", "numbr": 8}"#,
            "unknown field `numbr`, expected `given` or `number`",
        ),
        (
            r#"{"given": "x", "plain": 1}"#,
            "unknown field `plain`, expected `given` or `number`",
        ),
        (r#"{"given": "x", "given": "y"}"#, "duplicate field `given`"),
        ("{}", "missing field `given`"),
        (
            r#"["x"]"#,
            "invalid type: sequence, expected a map with the keys of `KeysInput`",
        ),
    ] {
        let message = data(text).err().unwrap().to_string();
        assert_eq!(message.split(" at line").next(), Some(error), "{text}");
    }
}

/// Input that need not be given.
#[state]
#[derive(Debug, PartialEq)]
struct Folds {
    #[key(input, append)]
    xs: Vec<u32>,
    #[key(input, append, default = vec![1])]
    from_one: Vec<u32>,
    #[key(input, sum, default = 7)]
    n: u32,
    #[key(input, max, default = 3)]
    high: u32,
    #[key(input, first)]
    winner: Option<String>,
    #[key(input)]
    subtitle: Option<String>,
    #[key(input, merge)]
    r#type: std::collections::BTreeMap<String, u32>,
}

#[node(Folds)]
async fn fold_nothing() {}

flow_and_graph! { FoldNothing(Folds) { fold_nothing } nodes: fold_nothing }

#[tokio::test]
async fn c44_keys_absent_from_the_data_are_not_written() {
    let start = |text: &str| serde_json::from_str::<FoldsInput>(text).unwrap();
    let folds = run_both!(FoldNothing, |launch| launch.run(start("{}")).await.unwrap());
    let expected = Folds {
        xs: vec![],
        from_one: vec![1],
        n: 7,
        high: 3,
        winner: None,
        subtitle: None,
        r#type: [].into(),
    };
    assert_eq!(folds, expected);
    let text = r#"{"xs": [2], "from_one": [2], "n": 1, "high": 4, "winner": "w", "subtitle": "s", "type": {"a": 1}}"#;
    let folds = run_both!(FoldNothing, |launch| launch.run(start(text)).await.unwrap());
    let expected = Folds {
        xs: vec![2],
        from_one: vec![1, 2],
        n: 8,
        high: 4,
        winner: Some("w".into()),
        subtitle: Some("s".into()),
        r#type: [("a".into(), 1)].into(),
    };
    assert_eq!(folds, expected);
}

#[node(Keys)]
async fn zero() -> (KeysKept, KeysNumber) {
    (KeysKept(0), KeysNumber(0))
}

#[node(Keys)]
async fn overwrite_zero() -> Overwrite<KeysKept> {
    Overwrite(KeysKept(0))
}

#[node(Keys)]
async fn nine() -> KeysKept {
    KeysKept(9)
}

flow_and_graph! { Zero(Keys) { zero } nodes: zero }
flow_and_graph! { OverwriteZero(Keys) { overwrite_zero } nodes: overwrite_zero }
flow_and_graph! { NineZero(Keys) { nine -> zero; } nodes: nine, zero }

#[tokio::test]
async fn g007_skip_zero_ignores_zero_and_nothing_else() {
    let keys = run_both!(Zero, |launch| launch.run(input("x")).await.unwrap());
    assert_eq!(
        (keys.kept, keys.number),
        (5, 0),
        "only where the key says so"
    );
    assert_eq!(
        run_both!(NineZero, |launch| launch
            .run(input("x"))
            .await
            .unwrap()
            .kept),
        9
    );
    assert_eq!(
        run_both!(OverwriteZero, |launch| launch
            .run(input("x"))
            .await
            .unwrap()
            .kept),
        0,
        "an overwrite is meant"
    );
}

#[node(Keys)]
async fn low_positive() -> (KeysLow, KeysHigh, KeysWinner) {
    (KeysLow(5), KeysHigh(-5), KeysWinner(Some("first".into())))
}

#[node(Keys)]
async fn low_more() -> (KeysLow, KeysHigh, KeysWinner) {
    (KeysLow(8), KeysHigh(-8), KeysWinner(Some("second".into())))
}

flow_and_graph! { Extremes(Keys) { low_positive -> low_more; } nodes: low_positive, low_more }
flow_and_graph! { ExtremesFork(Keys) { START -> low_more & low_positive; } nodes: low_more, low_positive }

#[tokio::test]
async fn c21_the_minimum_does_not_begin_at_zero() {
    let keys = run_both!(Extremes, |launch| launch.run(input("x")).await.unwrap());
    assert_eq!(
        (keys.low, keys.high, keys.winner.as_deref()),
        (5, -5, Some("first"))
    );
    let keys = run_both!(ExtremesFork, |launch| launch.run(input("x")).await.unwrap());
    assert_eq!(
        (keys.low, keys.high, keys.winner.as_deref()),
        (5, -5, Some("second")),
        "the first in declaration order"
    );
}

#[node(Keys)]
async fn flash_nine(flash: &u32) -> (KeysFlash, KeysScratch) {
    (KeysFlash(9), KeysScratch(vec![*flash]))
}

#[node(Keys)]
async fn look(flash: &u32) -> KeysScratch {
    KeysScratch(vec![*flash])
}

flow_and_graph! {
    Flash(Keys) { node look_again = look; flash_nine -> look -> look_again; }
    nodes: look_again = |b| b.node_as("look_again", look {}), flash_nine, look
}

#[tokio::test]
async fn c13_an_ephemeral_key_falls_back_to_its_default() {
    let keys = run_both!(Flash, |launch| launch.run(input("x")).await.unwrap());
    assert_eq!((keys.scratch, keys.flash), (vec![1, 9, 1], 1));
}

#[node(Keys)]
async fn option(given: &str) -> Option<KeysPlain> {
    given.parse().ok().map(KeysPlain)
}

flow_and_graph! { Optional(Keys) { option } nodes: option }

#[tokio::test]
async fn an_option_may_write_or_not() {
    assert_eq!(
        run_both!(Optional, |launch| launch
            .run(input("12"))
            .await
            .unwrap()
            .plain),
        12
    );
    assert_eq!(
        run_both!(Optional, |launch| launch
            .run(input("twelve"))
            .await
            .unwrap()
            .plain),
        0
    );
}

#[test]
fn an_update_lists_the_written_keys() {
    let mut effects = node::Effects::<Keys>::default();
    node::Output::apply(
        (KeysPlain(1), Overwrite(KeysKept(0)), None::<KeysNamed>),
        &mut effects,
    )
    .unwrap();
    let named = |set: state::KeySet| {
        set.iter()
            .map(|key| Keys::KEYS[key].name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (
            named(effects.update.written()),
            named(effects.update.overwritten())
        ),
        (vec!["plain", "kept"], vec!["kept"])
    );
    assert_eq!(effects.update.of::<KeysPlain>().only(), Some(&1));
    assert!(effects.update.of::<KeysNamed>().is_empty());
    effects.update.clear();
    assert!(!effects.update.written_any() && effects.update.of::<KeysPlain>().is_empty());
}

#[node(Keys)]
async fn reads_option(winner: Option<&str>) -> KeysNamed {
    KeysNamed(winner.unwrap_or("nobody").into())
}

flow_and_graph! { ReadsOption(Keys) { low_positive -> reads_option; } nodes: low_positive, reads_option }

#[tokio::test]
async fn an_option_is_read_by_reference() {
    assert_eq!(
        run_both!(ReadsOption, |launch| launch
            .run(input("x"))
            .await
            .unwrap()
            .named),
        "first"
    );
    assert_eq!(reads_option(None).await.0, "nobody");
}

#[node(Keys)]
async fn whole(state: &Keys) -> KeysNamed {
    KeysNamed(format!("{} {} {}", state.given, state.plain, state.kept))
}

flow_and_graph! { Whole(Keys) { whole } nodes: whole }

#[tokio::test]
async fn g013_the_whole_state_may_be_read_at_any_time() {
    assert_eq!(
        run_both!(Whole, |launch| launch.run(input("x")).await.unwrap().named),
        "x 0 5"
    );
}

/// Names that agentmesh reserves.
#[state]
#[derive(Debug, PartialEq)]
struct Unreserved {
    #[key(append)]
    messages: Vec<String>,
    #[key(default)]
    approvals: u32,
    #[key(default = 3)]
    state: u32,
    #[key(append, name = UnreservedUpdateKey)]
    update: Vec<u32>,
}

#[node(Unreserved)]
async fn reads_them(
    messages: &[String],
    approvals: &u32,
    state: &u32,
    update: &[u32],
) -> (UnreservedMessages, UnreservedApprovals) {
    (
        UnreservedMessages(vec![format!(
            "{} {approvals} {state} {}",
            messages.len(),
            update.len()
        )]),
        UnreservedApprovals(1),
    )
}

flow_and_graph! { ReadsThem(Unreserved) { reads_them } nodes: reads_them }

#[tokio::test]
async fn g019_no_name_of_a_key_is_reserved() {
    let state = run_both!(ReadsThem, |launch| launch.run(()).await.unwrap());
    assert_eq!(
        state,
        Unreserved {
            messages: vec!["0 0 3 0".into()],
            approvals: 1,
            state: 3,
            update: vec![]
        }
    );
}

#[test]
fn g009_g012_a_key_takes_its_own_type_and_no_other() {
    // agentmesh panics on a value of another type. Here that does not compile (`ui/`), because the type is part of the key.
    fn value<K: Key<Value = T>, T: 'static>() -> (&'static str, std::any::TypeId) {
        (K::NAME, std::any::TypeId::of::<T>())
    }
    assert_eq!(
        value::<UnreservedMessages, _>(),
        ("messages", std::any::TypeId::of::<Vec<String>>())
    );
    assert_eq!(
        value::<KeysWinner, _>(),
        ("winner", std::any::TypeId::of::<Option<String>>())
    );
}
