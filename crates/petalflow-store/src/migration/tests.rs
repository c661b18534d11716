use super::*;
use crate::codec::KeyOutline;
use crate::codec::Reducer;

fn bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes).unwrap();
    bytes
}

/// A thread with the value `[1]` of `list`, a write of `[2]` and an overwrite with `[3]`, and with `text`.
fn thread() -> Migration {
    let list = Log {
        outline: Some(KeyOutline {
            id: "list".into(),
            ty: "Vec<u8>".into(),
            reducer: Reducer::Append,
            ephemeral: false,
            required: false,
        }),
        value: Some(bytes(&[1_u8])),
        writes: vec![bytes(&[(false, [2_u8])]), bytes(&[(true, [3_u8])])],
        unset: false,
        lost: false,
        converted: false,
    };
    let text = Log {
        value: Some(bytes(&"12")),
        ..Log::default()
    };
    let task = TaskEntry {
        node: "dig".into(),
        send: Some(0),
        item: Some(bytes(&7_u8)),
    };
    let keys = [("list".into(), list), ("text".into(), text)];
    Migration::new(keys.into_iter().collect(), vec![task])
}

#[test]
fn writes_are_converted_one_by_one() {
    let mut thread = thread();
    let texts = |old: Vec<u8>| old.iter().map(ToString::to_string).collect::<Vec<_>>();
    thread.map("list", texts).unwrap();
    thread.map("absent", texts).unwrap();
    let (keys, _) = thread.into_parts();
    assert_eq!(keys.get("list").unwrap().value, Some(bytes(&["1"])));
    assert_eq!(
        keys.get("list").unwrap().writes,
        [bytes(&[(false, ["2"])]), bytes(&[(true, ["3"])])]
    );
}

#[test]
fn a_whole_value_is_folded_first() {
    let mut thread = thread();
    let error = thread.take::<Vec<u8>>("list").unwrap_err().to_string();
    assert!(
        error.contains("`fold(\"list\", reduce::append)`"),
        "{error}"
    );
    thread
        .fold("list", |list: &mut Vec<u8>, more| list.extend(more))
        .unwrap();
    assert_eq!(thread.take::<Vec<u8>>("list").unwrap(), Some(vec![3]));
    assert_eq!(thread.take::<Vec<u8>>("list").unwrap(), None);
}

#[test]
fn a_failed_step_changes_nothing() {
    let mut changed = thread();
    let error = changed.map("list", |old: Vec<String>| old).unwrap_err();
    assert!(
        error.to_string().starts_with("key `list`: it is not a `"),
        "{error}"
    );
    changed.take::<u8>("text").unwrap_err();
    changed.map_item("dig", |old: String| old).unwrap_err();
    let error = changed.rename("text", "list").unwrap_err();
    assert!(
        error.to_string().contains("there is a key `list` already"),
        "{error}"
    );
    assert_eq!(changed.into_parts(), thread().into_parts());
}

#[test]
fn keys_are_renamed_and_items_converted() {
    let mut thread = thread();
    thread.rename("text", "number").unwrap();
    thread.rename("text", "absent").unwrap();
    let number: u32 = thread
        .get::<String>("number")
        .unwrap()
        .unwrap()
        .parse()
        .unwrap();
    thread.put("number", &number).unwrap();
    assert_eq!(thread.keys().collect::<Vec<_>>(), ["list", "number"]);
    assert!(thread.remove("list") && !thread.remove("list"));
    thread.map_item("dig", |old: u8| old.to_string()).unwrap();
    let (keys, tasks) = thread.into_parts();
    assert_eq!(keys.get("number").unwrap().value, Some(bytes(&12_u32)));
    assert_eq!(tasks[0].item, Some(bytes(&"7")));
}
