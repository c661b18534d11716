//! The reducer `messages`.

use petalflow::state::reduce::{Messages, messages};
use petalflow::state::{Message, Remove, Write, Writes};

#[derive(Clone, Debug, PartialEq)]
enum Line {
    Text(Option<String>, &'static str),
    Remove(&'static str),
    RemoveAll,
}

impl Message for Line {
    fn id(&self) -> Option<&str> {
        match self {
            Line::Text(id, _) => id.as_deref(),
            _ => None,
        }
    }

    fn set_id(&mut self, id: String) {
        if let Line::Text(slot, _) = self {
            *slot = Some(id);
        }
    }

    fn removes(&self) -> Option<Remove<'_>> {
        match self {
            Line::Text(..) => None,
            Line::Remove(id) => Some(Remove::One(id)),
            Line::RemoveAll => Some(Remove::All),
        }
    }
}

fn line(id: &str, text: &'static str) -> Line {
    Line::Text(Some(id.into()), text)
}

fn new(text: &'static str) -> Line {
    Line::Text(None, text)
}

fn folded(mut current: Vec<Line>, written: Vec<Line>) -> Vec<Line> {
    messages(&mut current, written);
    current
}

#[test]
fn a_known_id_replaces_in_place_and_a_new_one_appends() {
    assert_eq!(
        folded(vec![line("1", "a")], vec![line("2", "b")]),
        [line("1", "a"), line("2", "b")]
    );
    assert_eq!(
        folded(vec![line("1", "a"), line("2", "b")], vec![line("1", "c")]),
        [line("1", "c"), line("2", "b")]
    );
    assert_eq!(
        folded(vec![], vec![line("1", "a"), line("1", "b")]),
        [line("1", "b")]
    );
}

#[test]
fn a_removal_removes_and_a_message_written_after_it_stays() {
    assert_eq!(
        folded(
            vec![line("1", "a"), line("2", "b")],
            vec![Line::Remove("1")]
        ),
        [line("2", "b")]
    );
    assert_eq!(
        folded(vec![line("1", "a")], vec![Line::Remove("2")]),
        [line("1", "a")]
    );
    assert_eq!(
        folded(
            vec![line("1", "a")],
            vec![Line::Remove("1"), line("1", "b")]
        ),
        [line("1", "b")]
    );
    assert_eq!(
        folded(
            vec![line("1", "a")],
            vec![line("2", "b"), Line::RemoveAll, line("3", "c")]
        ),
        [line("3", "c")]
    );
}

#[test]
fn missing_ids_are_filled_the_same_way_each_time_and_differ() {
    let once = folded(vec![line("1", "a")], vec![new("b"), new("c")]);
    assert_eq!(
        once,
        folded(folded(vec![line("1", "a")], vec![new("b")]), vec![new("c")])
    );
    let mut ids: Vec<_> = once.iter().map(|line| line.id().unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn an_unknown_removal_is_found_before_anything_is_applied() {
    let current = vec![line("1", "a")];
    let verdict = |writes: &[&[Write<Vec<Line>>]]| {
        let updates: Vec<_> = writes
            .iter()
            .map(|writes| {
                let mut update = Writes::default();
                writes.iter().for_each(|write| update.push(write.clone()));
                update
            })
            .collect();
        current
            .validate("chat", &updates.iter().collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    let fold = |list: Vec<Line>| Write::Fold(list);
    assert_eq!(verdict(&[&[fold(vec![Line::Remove("1")])]]), Ok(()));
    let unknown =
        "key `chat`: cannot remove the message `2`, because the list has no message with this id";
    assert_eq!(
        verdict(&[&[fold(vec![Line::Remove("2")])]]),
        Err(unknown.to_string())
    );
    assert_eq!(
        verdict(&[
            &[fold(vec![line("2", "b")])],
            &[fold(vec![Line::Remove("2")])]
        ]),
        Ok(())
    );
    assert_eq!(
        verdict(&[&[fold(vec![
            line("2", "b"),
            Line::Remove("2"),
            Line::Remove("2")
        ])]]),
        Err(unknown.to_string())
    );
    assert!(verdict(&[&[fold(vec![Line::RemoveAll, Line::Remove("1")])]]).is_err());
    assert_eq!(
        verdict(&[
            &[fold(vec![Line::Remove("2")])],
            &[Write::Overwrite(vec![])]
        ]),
        Ok(())
    );
}
