use super::*;

fn outline() -> Outline {
    let mut outline = Outline::default();
    for line in [
        "key n: u64 sum",
        "node b takes u8",
        "edge a -> b",
        "join a & b -> c",
    ] {
        outline.add_line(line);
    }
    outline
}

fn header() -> Header {
    Header {
        flow: "Essay".into(),
        graph: 1,
        version: 2,
        schema: 3,
        cause: Cause::Superstep,
        parent: Some(4),
        origin: 5,
        turn: 6,
        superstep: 7,
        owner: Some([8; 16]),
        frontier: vec![TaskEntry {
            node: "write".into(),
            send: Some(0),
            item: Some(vec![1, 2]),
        }],
        deferred: vec![],
        joins: vec![("a & b -> c".into(), vec!["a".into()])],
        gates: vec!["draft".into()],
        answers: vec![AnswerEntry {
            id: [1; 16],
            name: "review".into(),
            bytes: vec![4],
        }],
        notes: vec![DecisionRecord {
            node: "publish".into(),
            decision: DecisionKind::Approved,
            by: Some("Ann".into()),
            reason: None,
            at_ms: 9,
        }],
        outline: Some(outline()),
    }
}

#[test]
fn a_record_is_decoded_as_it_was_encoded() {
    let keys = [KeyEntry {
        id: "draft",
        kind: KeyKind::Delta,
        bytes: &[1, 2, 3],
    }];
    let mut bytes = header().begin();
    header().encode(keys.into_iter(), &mut bytes);
    let record = Record::decode(&bytes).unwrap();
    assert_eq!(record.header, header());
    assert_eq!(record.keys[0].bytes, [1, 2, 3]);
    assert_eq!(record.keys[0].kind, KeyKind::Delta);
}

#[test]
fn damaged_bytes_are_errors() {
    let mut bytes = header().begin();
    header().encode([].into_iter(), &mut bytes);
    for end in 0..bytes.len() {
        assert!(Record::decode(&bytes[..end]).is_err(), "{end}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // It may still be a record with other values. It must not panic.
            let _ = Record::decode(&damaged);
        }
    }
    for other in [1, 9] {
        bytes[0] = other;
        let error = Record::decode(&bytes).unwrap_err().to_string();
        let layouts =
            format!("layout {other} of checkpoints, and this version of petalflow reads layout 2");
        assert!(error.contains(&layouts), "{error}");
    }
}
