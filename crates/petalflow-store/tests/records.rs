//! Damaged and hostile checkpoints are refused, or decoded as the checkpoint that they are, with limited memory and time.

use petalflow_store::codec::*;
use petalflow_test_support::{bounded, mutated};
use proptest::prelude::*;

#[path = "../../../fuzz/record.rs"]
mod check;

use check::record;

fn records() -> Vec<Vec<u8>> {
    let task = |node: &str, item: Option<&[u8]>| TaskEntry {
        node: node.into(),
        send: item.map(|_| 3),
        item: item.map(Into::into),
    };
    let small = Header {
        incarnation: 0,
        flow: "Essay".into(),
        graph: 1,
        version: 2,
        schema: u64::MAX,
        cause: Cause::Input,
        parent: None,
        origin: 0,
        turn: 1,
        superstep: 0,
        owner: None,
        frontier: vec![],
        deferred: vec![],
        joins: vec![],
        interrupt_points: vec![],
        answers: Vec::new(),
        notes: vec![],
        outline: None,
    };
    let large = Header {
        cause: Cause::Rejected,
        parent: Some(4),
        owner: Some([8; 16]),
        frontier: vec![task("write", None), task("dig", Some(&[0x92, 1, 2]))],
        deferred: vec![task("report", None)],
        joins: vec![("a & b -> c".into(), vec!["a".into(), "b".into()])],
        interrupt_points: vec!["draft".into()],
        answers: Vec::new(),
        notes: vec![{
            let mut note = DecisionRecord::new("publish".into(), DecisionKind::Rejected, 9);
            note.by = Some("Ann".into());
            note
        }],
        outline: Some({
            let mut outline = Outline::default();
            let lines = ["key n: u64 sum", "node b takes u8", "join a & b -> c"];
            lines.iter().for_each(|line| outline.add_line(line));
            outline
        }),
        ..small.clone()
    };
    let keys = [
        KeyKind::Value,
        KeyKind::Delta,
        KeyKind::Unset,
        KeyKind::Lost,
    ]
    .map(|kind| KeyEntry {
        id: "draft",
        kind,
        bytes: &[0xa1, b'x'],
    });
    let encoded = |header: &Header, keys: &[KeyEntry<'_>]| {
        let mut bytes = Vec::new();
        header.encode(0, None, keys.iter().cloned(), &mut bytes);
        bytes
    };
    vec![encoded(&small, &[]), encoded(&large, &keys)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_checkpoints_are_refused_or_read_as_they_are(bytes in mutated(records())) {
        bounded(&bytes, record);
    }
}

#[test]
fn large_and_hostile_checkpoints_are_refused_soon() {
    // One byte each: a list of one, a map of one, a list of 15, nil, a number, the start of a long list or text.
    for byte in [0x91, 0x81, 0x9f, 0xc0, 0x01, 0xdd, 0xdb, 0xc6, 0xff] {
        let mut bytes = vec![byte; 1 << 18];
        bytes[0] = 1;
        bounded(&bytes, record);
    }
}
