//! The bytes are those of `rmp-serde`, which wrote stored values at first. Each reads what the other wrote.

use std::collections::BTreeMap;
use std::fmt::Debug;

use petalflow_store::codec::{Bytes, MAX_DEPTH, decode, encode};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

fn theirs<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    let mut serializer = rmp_serde::Serializer::new(&mut out).with_struct_map();
    value.serialize(&mut serializer).unwrap();
    out
}

fn read_by_them<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut rest = bytes;
    let mut deserializer = rmp_serde::Deserializer::new(&mut rest);
    deserializer.set_max_depth(MAX_DEPTH + 1);
    let value = T::deserialize(&mut deserializer).ok()?;
    rest.is_empty().then_some(value)
}

fn ours<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, &mut out).unwrap();
    out
}

/// Every shape that serde knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shapes {
    flag: bool,
    numbers: (i8, i16, i32, i64, u8, u16, u32, u64),
    long: (i128, u128),
    fractions: (f32, f64),
    letter: char,
    text: String,
    bytes: Blob,
    some: Option<u16>,
    nothing: (),
    mark: Mark,
    wrapped: Wrapped,
    pair: Pair,
    variants: Vec<Variant>,
    map: BTreeMap<String, Vec<u8>>,
    by_number: BTreeMap<i16, Option<String>>,
    json: Value,
    #[serde(flatten)]
    flat: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Bytes(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Bytes::deserialize(deserializer).map(|bytes| Blob(bytes.0))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mark;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pair(u8, String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Variant {
    Alone,
    One(i64),
    Two(u8, Option<String>),
    Named {
        text: String,
        more: Box<Option<Variant>>,
    },
}

/// Tagged as serde's attributes let people tag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Empty,
    Full { number: i32, items: Vec<i8> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Fraction(f64),
    Text(String),
    Full { a: u8 },
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        // Lengths around those where the marker changes.
        prop_oneof![30..34_usize, 254..258_usize, 65_534..65_538_usize]
            .prop_map(|len| "x".repeat(len)),
    ]
}

fn variant() -> impl Strategy<Value = Variant> {
    let leaf = prop_oneof![
        Just(Variant::Alone),
        any::<i64>().prop_map(Variant::One),
        any::<(u8, Option<String>)>().prop_map(|(number, text)| Variant::Two(number, text)),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        (any::<String>(), proptest::option::of(inner)).prop_map(|(text, more)| Variant::Named {
            text,
            more: Box::new(more),
        })
    })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..20)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn shapes() -> impl Strategy<Value = Shapes> {
    let plain = (
        any::<bool>(),
        any::<(i8, i16, i32, i64, u8, u16, u32, u64)>(),
        any::<(i128, u128)>(),
        any::<(f32, f64)>(),
        any::<char>(),
        text(),
        proptest::collection::vec(any::<u8>(), 0..300),
        any::<Option<u16>>(),
    );
    let made = (
        any::<(String, u8, String)>(),
        proptest::collection::vec(variant(), 0..18),
        any::<BTreeMap<String, Vec<u8>>>(),
        any::<BTreeMap<i16, Option<String>>>(),
        json(),
        proptest::collection::btree_map("extra[a-z]*", any::<u32>(), 0..20),
    );
    (plain, made).prop_map(
        |(
            (flag, numbers, long, fractions, letter, text, bytes, some),
            ((wrapped, first, second), variants, map, by_number, json, flat),
        )| Shapes {
            flag,
            numbers,
            long,
            fractions,
            letter,
            text,
            bytes: Blob(bytes),
            some,
            nothing: (),
            mark: Mark,
            wrapped: Wrapped(wrapped),
            pair: Pair(first, second),
            variants,
            map,
            by_number,
            json,
            flat,
        },
    )
}

/// Numbers on both sides of every length.
#[test]
fn numbers_are_as_short_as_theirs() {
    for bit in 0..63_u32 {
        for near in [-2, -1, 0, 1, 2] {
            let number = (1_i64 << bit) + near;
            for number in [number, -number] {
                assert_eq!(ours(&number), theirs(&number), "{number}");
                assert_eq!(decode::<i64>(&ours(&number)).unwrap(), number);
            }
        }
    }
    for number in [i64::MIN, i64::MAX] {
        assert_eq!(ours(&number), theirs(&number));
    }
    assert_eq!(ours(&u64::MAX), theirs(&u64::MAX));
}

#[test]
fn tagged_variants_are_theirs() {
    for tagged in [
        Tagged::Empty,
        Tagged::Full {
            number: -70_000,
            items: vec![-128, -33, -32, -1, 0, 127],
        },
    ] {
        assert_eq!(ours(&tagged), theirs(&tagged));
        assert_eq!(decode::<Tagged>(&theirs(&tagged)).unwrap(), tagged);
    }
    for untagged in [
        Untagged::Number(-5),
        Untagged::Fraction(0.5),
        Untagged::Text("text".into()),
        Untagged::Full { a: 200 },
    ] {
        assert_eq!(ours(&untagged), theirs(&untagged));
        assert_eq!(decode::<Untagged>(&theirs(&untagged)).unwrap(), untagged);
    }
}

/// What they made of a newtype of this name.
#[test]
fn their_extensions_are_read() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename = "_ExtStruct")]
    struct Extension((i8, Blob));

    for len in [1, 2, 3, 4, 8, 16, 17, 300, 70_000] {
        let value = Extension((-7, Blob(vec![9; len])));
        assert_eq!(decode::<Extension>(&theirs(&value)).unwrap(), value);
        assert_eq!(decode::<Extension>(&ours(&value)).unwrap(), value);
    }
}

/// Bytes that nobody has written on purpose: what they take, we take, for the same.
fn as_they_do<T: DeserializeOwned + Serialize + Debug>(bytes: &[u8]) {
    if let Some(value) = read_by_them::<T>(bytes) {
        let same = decode::<T>(bytes).map(|value| ours(&value));
        assert_eq!(same.ok(), Some(ours(&value)), "{value:?} of {bytes:x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_are_written_as_they_write_them(value in shapes()) {
        let bytes = ours(&value);
        prop_assert_eq!(&bytes, &theirs(&value));
        let back: Shapes = decode(&bytes).unwrap();
        prop_assert_eq!(ours(&back), bytes);
    }

    #[test]
    fn values_that_rmp_serde_reads_are_read(value in shapes(), place: prop::sample::Index, byte: u8) {
        let mut bytes = theirs(&value);
        let at = place.index(bytes.len());
        bytes[at] = byte;
        as_they_do::<Shapes>(&bytes);
    }

    #[test]
    fn hostile_bytes_are_read_as_they_read_them(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        as_they_do::<bool>(&bytes);
        as_they_do::<i16>(&bytes);
        as_they_do::<u64>(&bytes);
        as_they_do::<u128>(&bytes);
        as_they_do::<f32>(&bytes);
        as_they_do::<f64>(&bytes);
        as_they_do::<char>(&bytes);
        as_they_do::<String>(&bytes);
        as_they_do::<Blob>(&bytes);
        as_they_do::<()>(&bytes);
        as_they_do::<Mark>(&bytes);
        as_they_do::<Wrapped>(&bytes);
        as_they_do::<Pair>(&bytes);
        as_they_do::<Variant>(&bytes);
        as_they_do::<Tagged>(&bytes);
        as_they_do::<Untagged>(&bytes);
        as_they_do::<Vec<u8>>(&bytes);
        as_they_do::<Option<Vec<i64>>>(&bytes);
        as_they_do::<BTreeMap<i16, Option<String>>>(&bytes);
        as_they_do::<Value>(&bytes);
    }
}
