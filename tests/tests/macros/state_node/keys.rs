//! The keys of a state: options, defaults, reducers.

use std::collections::HashMap;

use petalflow::State;
use petalflow::node::Key;
use petalflow::prelude::*;
use petalflow::state::{KeyFlag, KeyMeta, KeySet, Reducer, Update};
use serde::{Deserialize, Serialize};

/// A type with nothing but what a key needs.
#[derive(Clone, Serialize, Deserialize)]
struct Opaque;

fn longest(current: &mut String, written: String) {
    if written.len() > current.len() {
        *current = written;
    }
}

#[state]
struct Wide {
    #[key(input)]
    opaque: Opaque,
    #[key(input, append)]
    list: Vec<String>,
    #[key(input, default = 7)]
    seven: u32,
    #[key(min)]
    low: i32,
    #[key(max, default)]
    high: i32,
    #[key(reduce = longest)]
    long: String,
    #[key(reduce = |current: &mut u32, written| *current ^= written)]
    xor: u32,
    #[key(merge)]
    map: HashMap<String, u32>,
    #[key(first)]
    first: String,
    #[key(skip_zero)]
    nonzero: u32,
    #[key(turn, default = "untitled".to_string(), id = "t")]
    title: String,
    #[key(ephemeral)]
    hint: Option<String>,
    #[key(untracked, output)]
    r#type: bool,
    #[key(name = WideWords)]
    input: String,
    #[key(prepend)]
    front: Vec<u8>,
    plain: u8,
}

fn wide() -> (Wide, KeySet) {
    Wide::start(WideInput {
        opaque: Opaque,
        list: vec!["a".into()],
        seven: 9,
    })
    .expect("no sum is too large")
}

/// Writes and commits, as a superstep with one node does.
fn commit<S: State>(state: &mut S, written: &mut KeySet, write: impl FnOnce(&mut Update<S>)) {
    let mut update = Update::<S>::default();
    write(&mut update);
    let overwritten = update.overwritten();
    state.commit(&mut update, overwritten, written);
    assert!(
        update.written().is_empty(),
        "a commit leaves the update empty"
    );
}

fn fold<K: Key>(value: K::Value) -> impl FnOnce(&mut Update<K::State>) {
    move |update| update.add::<K>(value, false).unwrap()
}

fn overwrite<K: Key>(value: K::Value) -> impl FnOnce(&mut Update<K::State>) {
    move |update| update.add::<K>(value, true).unwrap()
}

fn meta(name: &str) -> &'static KeyMeta {
    Wide::KEYS.iter().find(|key| key.name == name).unwrap()
}

#[test]
fn input_is_taken_and_the_rest_starts_at_its_default() {
    let (state, written) = wide();
    assert_eq!(state.list, ["a"]);
    assert_eq!(state.seven, 9);
    assert_eq!(state.title, "untitled");
    assert_eq!(state.low, 0);
    assert_eq!(state.hint, None);
    for (index, key) in Wide::KEYS.iter().enumerate() {
        assert_eq!(
            written.contains(index),
            key.has(KeyFlag::Assigned),
            "{}",
            key.name
        );
    }
}

#[test]
fn the_metadata_of_the_keys_follows_the_options() {
    let assigned: Vec<_> = Wide::KEYS
        .iter()
        .filter(|key| key.has(KeyFlag::Assigned))
        .map(|key| key.name)
        .collect();
    assert_eq!(
        assigned,
        [
            "opaque", "list", "seven", "high", "long", "xor", "map", "first", "title", "front"
        ]
    );
    let exclusive: Vec<_> = Wide::KEYS
        .iter()
        .filter(|key| key.has(KeyFlag::Exclusive))
        .map(|key| key.name)
        .collect();
    assert_eq!(
        exclusive,
        [
            "opaque", "seven", "nonzero", "title", "hint", "type", "input", "plain"
        ]
    );
    assert_eq!((meta("title").id, meta("plain").id), ("t", "plain"));
    assert_eq!(
        (
            meta("long").reducer,
            meta("low").reducer,
            meta("plain").reducer
        ),
        (Reducer::Custom, Reducer::Min, Reducer::Replace)
    );
    assert!(
        meta("hint").has(KeyFlag::Ephemeral)
            && meta("type").has(KeyFlag::Untracked)
            && meta("type").has(KeyFlag::Output)
    );
    assert_eq!(WideWords::NAME, "input");
    assert_eq!(WideType::INDEX, 12);
}

#[test]
fn the_first_write_of_min_without_a_default_is_taken_as_it_is() {
    let (mut state, mut written) = wide();
    commit(&mut state, &mut written, fold::<WideLow>(5));
    commit(&mut state, &mut written, fold::<WideLow>(8));
    assert_eq!(state.low, 5);
    commit(&mut state, &mut written, fold::<WideHigh>(-3));
    assert_eq!(state.high, 0, "`high` has a default to fold into");
}

#[test]
fn reducers_fold_in_place() {
    let (mut state, mut written) = wide();
    for text in ["b", "c"] {
        commit(
            &mut state,
            &mut written,
            fold::<WideList>(vec![text.into()]),
        );
        commit(&mut state, &mut written, fold::<WideLong>(text.repeat(3)));
        commit(&mut state, &mut written, fold::<WideFirst>(text.into()));
        commit(
            &mut state,
            &mut written,
            fold::<WideFront>(text.bytes().collect()),
        );
    }
    commit(&mut state, &mut written, fold::<WideXor>(6));
    commit(&mut state, &mut written, fold::<WideXor>(3));
    commit(
        &mut state,
        &mut written,
        fold::<WideMap>(HashMap::from([("a".into(), 1)])),
    );
    assert_eq!(state.list, ["a", "b", "c"]);
    assert_eq!((&*state.long, &*state.first), ("bbb", "b"));
    assert_eq!(
        (state.front, state.xor, state.map.len()),
        (b"cb".to_vec(), 5, 1)
    );
}

#[test]
fn a_write_of_zero_to_a_skip_zero_key_is_not_a_write() {
    let (mut state, mut written) = wide();
    commit(&mut state, &mut written, fold::<WideNonzero>(4));
    commit(&mut state, &mut written, fold::<WideNonzero>(0));
    assert_eq!(state.nonzero, 4);
    commit(&mut state, &mut written, overwrite::<WideNonzero>(0));
    assert_eq!(state.nonzero, 0, "an overwrite is not ignored");
}

#[test]
fn keys_return_to_their_default_and_a_key_without_one_is_unchanged() {
    let (mut state, _) = wide();
    state.title = "petals".into();
    state.plain = 3;
    state.reset(KeyMeta::set(Wide::KEYS, KeyFlag::Turn));
    assert_eq!((&*state.title, state.plain), ("untitled", 3));
    state.reset(KeySet::ALL);
    assert_eq!((state.plain, state.seven), (0, 7));
    assert_eq!(state.list, Vec::<String>::new());
}

#[test]
fn input_can_be_written_to_a_state_that_has_values() {
    let (mut state, mut written) = wide();
    let mut update = Wide::input(WideInput {
        opaque: Opaque,
        list: vec!["b".into()],
        seven: 1,
    });
    state.commit(&mut update, KeySet::NONE, &mut written);
    assert_eq!(
        (state.list, state.seven),
        (vec!["a".to_string(), "b".to_string()], 1)
    );
}

#[test]
fn a_state_with_one_input_takes_the_bare_value_and_one_without_takes_nothing() {
    #[state]
    struct One {
        #[key(input)]
        topic: String,
    }
    #[state]
    struct Empty {}

    let input: OneInput = "petals".to_string().into();
    assert_eq!(One::start(input).unwrap().0.topic, "petals");
    assert_eq!(OneInput::default().topic, "");
    let _ = Empty::start(().into()).unwrap();
}

#[test]
fn more_keys_than_a_block_are_committed_and_cleared() {
    #[state]
    #[derive(Debug, PartialEq)]
    struct Many {
        a0: u8,
        a1: u8,
        a2: u8,
        a3: u8,
        a4: u8,
        a5: u8,
        a6: u8,
        a7: u8,
        a8: u8,
        a9: u8,
        b0: u8,
        b1: u8,
        b2: u8,
        b3: u8,
        b4: u8,
        b5: u8,
        b6: u8,
        b7: u8,
        b8: u8,
        b9: u8,
    }

    let (mut state, mut written) = Many::start(().into()).unwrap();
    commit(&mut state, &mut written, fold::<ManyA3>(3));
    commit(&mut state, &mut written, fold::<ManyB9>(9));
    assert_eq!((state.a3, state.b9), (3, 9));
    assert!(written.contains(ManyB9::INDEX) && !written.contains(ManyB8::INDEX));
    let mut update = ManyUpdate::default();
    update.add::<ManyB9>(1, false).unwrap();
    update.clear();
    assert!(update.of::<ManyB9>().is_empty() && update.written().is_empty());
}

#[test]
fn a_field_under_cfg_is_a_key_only_if_it_is_compiled() {
    #[state]
    struct Partly {
        #[cfg(any())]
        gone: Missing,
        #[cfg(not(any()))]
        #[key(append)]
        notes: Vec<String>,
        #[cfg_attr(all(), key(sum))]
        rounds: u32,
    }

    assert_eq!(
        Partly::KEYS
            .iter()
            .map(|key| (key.name, key.reducer))
            .collect::<Vec<_>>(),
        [("notes", Reducer::Append), ("rounds", Reducer::Sum)]
    );
    assert_eq!(PartlyRounds::INDEX, 1);
    let _ = Partly::start(().into()).unwrap();
}

#[test]
fn a_volatile_state_keeps_what_cannot_be_stored() {
    #[state(volatile)]
    struct Hooks {
        hook: Option<fn() -> u8>,
    }

    let (mut state, mut written) = Hooks::start(().into()).unwrap();
    commit(&mut state, &mut written, fold::<HooksHook>(Some(|| 3)));
    assert_eq!(state.hook.unwrap()(), 3);
}
