//! Damaged and hostile bytes are refused, or decoded as the value that they are, with limited memory and time.

use std::collections::BTreeMap;
use std::time::Duration;

use petalflow_test_support::{bounded, mutated};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::json;

#[path = "../../../fuzz/values.rs"]
mod check;

use check::values;

fn good_values() -> Vec<Vec<u8>> {
    fn encoded<T: Serialize>(value: T) -> Vec<u8> {
        let mut bytes = Vec::new();
        petalflow_store::codec::encode(&value, &mut bytes).unwrap();
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
    fn damaged_values_are_refused_or_read_as_they_are(bytes in mutated(good_values())) {
        bounded(&bytes, values);
    }
}

#[test]
fn large_and_hostile_values_are_refused_soon() {
    const LARGE: usize = 1 << 18;
    // One byte each: a list of one, a map of one, a list of 15, nil, a number, the start of a long list or text.
    for byte in [0x91, 0x81, 0x9f, 0xc0, 0x01, 0xdd, 0xdb, 0xc6, 0xff] {
        let mut bytes = vec![byte; LARGE];
        bounded(&bytes, values);
        // A list that claims as many items as there are bytes, so that its length is true.
        bytes[..5].copy_from_slice(&[0xdd, 0, 3, 0xff, 0xfb]);
        bounded(&bytes, values);
    }
}
