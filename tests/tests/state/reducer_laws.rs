//! The laws of the built-in reducers, on a whole state: however writes are cut into updates and supersteps, they give the
//! same values, and an update without writes changes nothing.

use std::collections::BTreeMap;

use petalflow::prelude::*;
use petalflow::state::WriteError;
use proptest::prelude::*;

#[state]
#[derive(Debug, Clone, PartialEq)]
struct All {
    #[key(append)]
    append: Vec<i32>,
    #[key(prepend)]
    prepend: Vec<i32>,
    #[key(sum)]
    sum: i64,
    #[key(min)]
    min: i32,
    #[key(max)]
    max: i32,
    #[key(merge)]
    merge: BTreeMap<u8, i32>,
    #[key(first)]
    first: i32,
    #[key(sum, skip_zero)]
    skipped: i64,
}

#[derive(Clone, Debug)]
enum One {
    Append(Vec<i32>),
    Prepend(Vec<i32>),
    Sum(i64),
    Min(i32),
    Max(i32),
    Merge(BTreeMap<u8, i32>),
    First(i32),
    Skipped(i64),
}

fn any_write() -> impl Strategy<Value = One> {
    let list = || prop::collection::vec(-9..9, 0..3);
    prop_oneof![
        list().prop_map(One::Append),
        list().prop_map(One::Prepend),
        (-9_i64..9).prop_map(One::Sum),
        (-9..9).prop_map(One::Min),
        (-9..9).prop_map(One::Max),
        prop::collection::btree_map(0_u8..4, -9..9, 0..3).prop_map(One::Merge),
        (-2..3).prop_map(One::First),
        (-2_i64..3).prop_map(One::Skipped),
    ]
}

fn push(write: &One, update: &mut AllUpdate) -> Result<(), WriteError> {
    match write.clone() {
        One::Append(value) => update.add::<AllAppend>(value, false),
        One::Prepend(value) => update.add::<AllPrepend>(value, false),
        One::Sum(value) => update.add::<AllSum>(value, false),
        One::Min(value) => update.add::<AllMin>(value, false),
        One::Max(value) => update.add::<AllMax>(value, false),
        One::Merge(value) => update.add::<AllMerge>(value, false),
        One::First(value) => update.add::<AllFirst>(value, false),
        One::Skipped(value) => update.add::<AllSkipped>(value, false),
    }
}

/// Commits the writes, with a new update at each index in `cuts`.
fn commit(writes: &[One], cuts: &[bool]) -> All {
    let (mut state, mut written) = All::start(().into()).unwrap();
    let mut update = AllUpdate::default();
    for (at, write) in writes.iter().enumerate() {
        push(write, &mut update).expect("these keys take any number of writes");
        if cuts[at] {
            let overwritten = update.overwritten();
            state.commit(&mut update, overwritten, &mut written);
        }
    }
    let overwritten = update.overwritten();
    state.commit(&mut update, overwritten, &mut written);
    state
}

proptest! {
    #[test]
    fn writes_have_the_same_result_in_any_batches(
        writes in prop::collection::vec(any_write(), 0..12),
        cuts in prop::collection::vec(any::<bool>(), 12),
    ) {
        prop_assert_eq!(commit(&writes, &cuts), commit(&writes, &[false; 12]));
    }

    #[test]
    fn an_empty_update_changes_nothing(writes in prop::collection::vec(any_write(), 0..12)) {
        let before = commit(&writes, &[false; 12]);
        let (mut after, mut written) = (before.clone(), state::KeySet::NONE);
        after.commit(&mut AllUpdate::default(), state::KeySet::NONE, &mut written);
        prop_assert_eq!(&after, &before);
        prop_assert!(written.is_empty());
    }
}
