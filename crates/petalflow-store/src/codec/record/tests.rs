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
        incarnation: 300,
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
        interrupt_points: vec!["draft".into()],
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

fn encoded(header: &Header, names: Option<&Outline>, keys: &[KeyEntry<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    header.encode(9, names, keys.iter().cloned(), &mut bytes);
    bytes
}

fn entry<'a>(id: &'a str, kind: KeyKind, bytes: &'a [u8]) -> KeyEntry<'a> {
    KeyEntry { id, kind, bytes }
}

/// A header of which most parts are left out.
fn plain(base: &Header) -> Header {
    let task = TaskEntry {
        node: "b".into(),
        send: None,
        item: None,
    };
    Header {
        cause: Cause::Superstep,
        parent: Some(8),
        origin: 9,
        turn: 6,
        superstep: 8,
        frontier: vec![task],
        flow: Arc::clone(&base.flow),
        incarnation: base.incarnation,
        graph: base.graph,
        version: base.version,
        schema: base.schema,
        ..Header::default()
    }
}

#[test]
fn a_record_is_decoded_as_it_was_encoded() {
    let keys = [
        entry("n", KeyKind::Delta, &[0x91, 0x92, 0xc2, 7]),
        entry("draft", KeyKind::Delta, &[1, 2, 3]),
        entry("m", KeyKind::Unset, &[]),
        entry("n", KeyKind::Value, &[4]),
        entry("n", KeyKind::Delta, &[0x91, 0x92, 0xc2, 0x91, 7]),
    ];
    let base = Header {
        outline: Some(outline().sorted()),
        ..header()
    };
    let outline = base.outline.as_ref();
    let mut builds = header();
    builds.outline = None;
    for (header, names) in [(&base, None), (&builds, outline), (&plain(&base), outline)] {
        for count in 0..=keys.len() {
            let bytes = encoded(header, names, &keys[..count]);
            let record = Record::decode(9, &bytes, names.map(|_| &base)).unwrap();
            assert_eq!(record.header, *header);
            let found = record.keys.iter();
            let found: Vec<_> = found
                .map(|key| entry(&key.id, key.kind, &key.bytes))
                .collect();
            assert_eq!(found, keys[..count]);
        }
    }
}

/// The part of most checkpoints of a chat that is not the message.
#[test]
fn the_usual_record_is_short() {
    let base = Header {
        outline: Some(outline().sorted()),
        ..header()
    };
    let keys = [entry("n", KeyKind::Delta, &[0x91, 0x92, 0xc2, 0x91, 0xa0])];
    let bytes = encoded(&plain(&base), base.outline.as_ref(), &keys);
    assert_eq!(bytes.len(), 6, "{bytes:?}");
}

#[test]
fn a_record_without_its_base_is_an_error() {
    let base = Header {
        outline: Some(Outline::default()),
        ..header()
    };
    let names = outline().sorted();
    let bytes = encoded(
        &plain(&base),
        Some(&names),
        &[entry("n", KeyKind::Value, &[1])],
    );
    for (base, problem) in [
        (None, "it builds on another checkpoint, which is missing"),
        (Some(&base), "its base has no node 0"),
    ] {
        let error = Record::decode(9, &bytes, base).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn damaged_bytes_are_errors() {
    let bytes = encoded(&header(), None, &[]);
    for end in 0..bytes.len() {
        assert!(Record::decode(9, &bytes[..end], None).is_err(), "{end}");
    }
    let keys = [entry("n", KeyKind::Value, &[1])];
    let short = encoded(&plain(&header()), header().outline.as_ref(), &keys);
    for bytes in [bytes, short] {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                // It may still be a record with other values. It must not panic.
                let _ = Record::decode(9, &damaged, Some(&header()));
            }
        }
    }
    for other in [1, 2, 9] {
        let mut bytes = encoded(&header(), None, &[]);
        bytes[0] = other;
        let error = Record::decode(9, &bytes, None).unwrap_err().to_string();
        let layouts =
            format!("layout {other} of checkpoints, and this version of petalflow reads layout 3");
        assert!(error.contains(&layouts), "{error}");
    }
}

#[test]
fn numbers_that_no_run_has_written_are_refused() {
    let decoded = |seq: u64, header: &Header| {
        let mut bytes = Vec::new();
        header.encode(seq, None, std::iter::empty(), &mut bytes);
        Record::decode(seq, &bytes, None).map(|record| record.header)
    };
    let refused = |seq: u64, header: Header, problem: &str| {
        let error = decoded(seq, &header).unwrap_err().to_string();
        assert_eq!(error, problem);
    };
    assert_eq!(decoded(9, &header()).unwrap(), header());
    for origin in [10, u64::MAX] {
        let problem =
            format!("its tasks were planned at checkpoint {origin}, which is a later one");
        refused(9, Header { origin, ..header() }, &problem);
    }
    for parent in [9, u64::MAX] {
        let problem = format!("it follows checkpoint {parent}, which is not an earlier one");
        let parent = Some(parent);
        refused(9, Header { parent, ..header() }, &problem);
    }
    let (end, last) = (i64::MAX as u64 + 1, i64::MAX as u64);
    let problem = format!("it has the number {end}, and the largest is {last}");
    refused(
        9,
        Header {
            superstep: end,
            ..header()
        },
        &problem,
    );
    refused(end, header(), &problem);
    let superstep = last;
    assert!(
        decoded(
            last,
            &Header {
                superstep,
                ..header()
            }
        )
        .is_ok()
    );
}
