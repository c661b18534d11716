//! One node's writes.

use petalflow::State;
use petalflow::node::Key;
use petalflow::prelude::*;
use petalflow::state::Write;

#[state]
struct Essay {
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[test]
fn a_key_without_a_reducer_takes_one_write() {
    let mut update = EssayUpdate::default();
    update.add::<EssayDraft>("a".into(), false).unwrap();
    let error = update.add::<EssayDraft>("b".into(), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key `draft`: takes one write in a superstep; give it a reducer such as `append` to take several"
    );
    for note in ["a", "b"] {
        update.add::<EssayNotes>(vec![note.into()], false).unwrap();
    }
    assert_eq!(update.of::<EssayNotes>().iter().count(), 2);
}

#[test]
fn an_overwrite_drops_the_plain_writes_wherever_it_stands() {
    for first in [false, true] {
        let mut update = EssayUpdate::default();
        for overwrite in [first, !first] {
            let note = if overwrite { "over" } else { "plain" };
            update
                .add::<EssayNotes>(vec![note.into()], overwrite)
                .unwrap();
        }
        let (mut state, mut written) = Essay::start(().into()).unwrap();
        state.notes.push("old".into());
        let overwritten = update.overwritten();
        state.commit(&mut update, overwritten, &mut written);
        assert_eq!(state.notes, ["over"]);
    }
}

#[test]
fn a_second_overwrite_is_refused() {
    let mut update = EssayUpdate::default();
    update.add::<EssayNotes>(vec![], true).unwrap();
    let error = update.add::<EssayNotes>(vec![], true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key `notes`: takes one `Overwrite` in a superstep"
    );
}

#[test]
fn an_update_shows_what_was_written() {
    let mut update = EssayUpdate::default();
    update.add::<EssayDraft>("a".into(), false).unwrap();
    assert_eq!(update.of::<EssayDraft>().only(), Some(&"a".to_string()));
    assert_eq!(
        update.written().iter().collect::<Vec<_>>(),
        [EssayDraft::INDEX]
    );
    let copy = update.clone();
    update.clear();
    assert!(update.of::<EssayDraft>().is_empty());
    assert_eq!(
        copy.of::<EssayDraft>().iter().collect::<Vec<_>>(),
        [&Write::Fold("a".to_string())]
    );
    assert_eq!(format!("{copy:?}"), "EssayUpdate{\"draft\"}");
}

#[test]
fn newtypes_have_the_traits_of_their_values() {
    assert_eq!(EssayDraft("a".into()), EssayDraft("a".into()).clone());
    assert_eq!(format!("{:?}", EssayDraft("a".into())), "EssayDraft(\"a\")");
}
