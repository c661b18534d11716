//! The bounded run: a few thousand mutations, with an eye on memory and time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::super::{Cause, DecisionRecord, Header, KeyKind, Outline, TaskEntry};
use super::mutation::mutated;
use super::*;

/// Runs a check on bytes of which it may believe nothing, least of all a length.
fn bounded(bytes: &[u8], check: fn(&[u8])) {
    let start = Instant::now();
    let used = allocation_counter::measure(|| check(bytes)).bytes_max;
    // A byte can stand for a value that takes a hundred in memory; and serde reserves up to 1 MiB for a list before it has
    // seen an item, in lists that stand in lists.
    let allowed = (2 << 20) + 256 * bytes.len() as u64;
    assert!(
        used <= allowed,
        "{} bytes take {used} in memory",
        bytes.len()
    );
    // Far more than it takes, so that a busy machine passes, and far less than for a length of 2³² that is believed.
    assert!(start.elapsed() < Duration::from_secs(10), "{bytes:02x?}");
}

fn records() -> Vec<Vec<u8>> {
    let task = |node: &str, item: Option<&[u8]>| TaskEntry {
        node: node.into(),
        send: item.map(|_| 3),
        item: item.map(Into::into),
    };
    let small = Header {
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
        gates: vec![],
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
        gates: vec!["draft".into()],
        answers: Vec::new(),
        notes: vec![DecisionRecord {
            node: "publish".into(),
            decision: crate::checkpoint::DecisionKind::Rejected,
            by: Some("Ann".into()),
            reason: None,
            at_ms: 9,
        }],
        outline: Some({
            let mut outline = Outline::default();
            let lines = [
                "key n: u64 sum",
                "node b takes u8",
                "edge a -> b",
                "join a & b -> c",
            ];
            lines.iter().for_each(|line| outline.add_line(line));
            outline
        }),
        ..small.clone()
    };
    let keys = [KeyKind::Value, KeyKind::Delta, KeyKind::Unset].map(|kind| KeyEntry {
        id: "draft",
        kind,
        bytes: &[0xa1, b'x'],
    });
    let encoded = |header: &Header, keys: &[KeyEntry<'_>]| {
        let mut bytes = header.begin();
        header.encode(keys.iter().cloned(), &mut bytes);
        bytes
    };
    vec![encoded(&small, &[]), encoded(&large, &keys)]
}

fn good_values() -> Vec<Vec<u8>> {
    fn encoded<T: Serialize>(value: T) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&value, &mut bytes).unwrap();
        bytes
    }
    vec![
        encoded(true),
        encoded(-5_000_000_000_i64),
        encoded(u128::MAX),
        encoded(f64::NAN),
        encoded('é'),
        encoded("some text"),
        encoded(Some((1_u8, ()))),
        encoded([Some(1_u16), None, Some(u16::MAX)]),
        encoded(vec![vec!["a"; 20]; 20]),
        encoded(Ok::<u8, String>(1)),
        encoded(Duration::new(1, 2)),
        encoded(std::net::IpAddr::from([127, 0, 0, 1])),
        encoded(BTreeMap::from([(
            (1_u8, "x"),
            vec![0.5_f32, f32::INFINITY],
        )])),
        encoded(json!({"a": [1, -2, 0.1, null, {"b": [[[[true]]]]}], "c": {}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_checkpoints_are_refused_or_read_as_they_stand(bytes in mutated(records())) {
        bounded(&bytes, record);
    }

    #[test]
    fn damaged_values_are_refused_or_read_as_they_stand(bytes in mutated(good_values())) {
        bounded(&bytes, values);
    }
}

#[test]
fn large_and_hostile_bytes_are_done_with_soon() {
    const LARGE: usize = 1 << 18;
    // One byte each: a list of one, a map of one, a list of 15, nothing, a number, the start of a long list or text.
    for byte in [0x91, 0x81, 0x9f, 0xc0, 0x01, 0xdd, 0xdb, 0xc6, 0xff] {
        let mut bytes = vec![byte; LARGE];
        bounded(&bytes, values);
        bytes[0] = 1;
        bounded(&bytes, record);
        // A list that claims as many items as there are bytes, so that no length is a lie.
        bytes[..5].copy_from_slice(&[0xdd, 0, 3, 0xff, 0xfb]);
        bounded(&bytes, values);
    }
}
