//! One node's writes.

use petalflow::State;
use petalflow::node::Key;
use petalflow::prelude::*;
use petalflow::state::{Update, Write};

#[state]
struct Essay {
    draft: String,
    #[key(append)]
    notes: Vec<String>,
    // Named like the methods of `Update`.
    clear: u8,
    written: u8,
    clone: u8,
}

#[test]
fn a_key_without_a_reducer_takes_one_write() {
    let mut update = EssayUpdate::default();
    EssayDraft::push("a".into(), false, &mut update).unwrap();
    let error = EssayDraft::push("b".into(), false, &mut update).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key `draft`: takes one write in a superstep; give it a reducer such as `append` to take several"
    );
    for note in ["a", "b"] {
        EssayNotes::push(vec![note.into()], false, &mut update).unwrap();
    }
    assert_eq!(update.notes().iter().count(), 2);
}

#[test]
fn an_overwrite_drops_the_plain_writes_wherever_it_stands() {
    for first in [false, true] {
        let mut update = EssayUpdate::default();
        for overwrite in [first, !first] {
            let note = if overwrite { "over" } else { "plain" };
            EssayNotes::push(vec![note.into()], overwrite, &mut update).unwrap();
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
    EssayNotes::push(vec![], true, &mut update).unwrap();
    let error = EssayNotes::push(vec![], true, &mut update).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key `notes`: takes one `Overwrite` in a superstep"
    );
}

#[test]
fn an_update_shows_what_was_written() {
    let mut update = EssayUpdate::default();
    EssayDraft::push("a".into(), false, &mut update).unwrap();
    assert_eq!(update.draft().only(), Some(&"a".to_string()));
    assert!(update.clear().is_empty() && update.written().is_empty() && update.clone().is_empty());
    assert_eq!(
        Update::written(&update).iter().collect::<Vec<_>>(),
        [EssayDraft::INDEX]
    );
    let copy = Clone::clone(&update);
    Update::clear(&mut update);
    assert!(update.draft().is_empty());
    assert_eq!(
        copy.draft().iter().collect::<Vec<_>>(),
        [&Write::Fold("a".to_string())]
    );
    assert!(format!("{copy:?}").starts_with("EssayUpdate { draft:"));
}

#[test]
fn newtypes_have_the_traits_of_their_values() {
    assert_eq!(EssayDraft("a".into()), EssayDraft("a".into()).clone());
    assert_eq!(format!("{:?}", EssayDraft("a".into())), "EssayDraft(\"a\")");
}
