//! What is stored: the records of checkpoints, and values as MessagePack.
//!
//! [`Record`] is a checkpoint, and [`Outline`] is the part of it that describes the program.
//! `docs/reference/checkpoint-format.md` describes the bytes.
//!
//! [`encode`] and [`decode`] are for values of users' types, through serde: structs are maps of field names, so stored bytes
//! describe themselves. [`pack`] and [`Unpack`] write and read petalflow's own records without serde, which takes less time to
//! run and to compile. Nothing here trusts a length or a nesting that it reads.
#![allow(
    clippy::missing_errors_doc,
    reason = "each fails with a `CodecError` if the bytes are not what it reads"
)]

mod bytes;
pub mod checksum;
mod decode;
mod depth;
mod encode;
mod error;
mod form;
mod json;
mod outline;
pub mod pack;
mod raw_value;
mod record;
mod reducer;
mod replace;
mod shape;
mod unpack;

use serde_core::{Serialize, de::DeserializeOwned};

pub use bytes::Bytes;
pub use depth::MAX_DEPTH;
pub use error::CodecError;
pub use form::{from_form, hex, to_form, unhex};
pub use json::Json;
pub use outline::{
    GraphOutline, KeyOutline, Line, NodeOutline, Outline, encode_keys, key_lines, quoted,
};
pub use raw_value::RawValue;
pub use record::{
    AnswerEntry, Cause, DecisionKind, DecisionRecord, Header, KeyEntry, KeyKind, OwnedKey, Record,
    TaskEntry,
};
pub use reducer::Reducer;
pub use replace::replace_texts;
pub use shape::{FieldOutline, fields_of};
pub use unpack::{Unpack, unpack};

use decode::Decoder;
use encode::Encoder;

/// Appends an encoded value.
pub fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
    encode_as::<false, T>(value, out)
}

/// Appends an encoded value in the form for programs or for people.
fn encode_as<const READABLE: bool, T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let start = out.len();
    value.serialize(Encoder::<READABLE> { out: &mut *out })?;
    // A value has at least one byte per level, so a short one cannot be too deep.
    if out.len() - start > MAX_DEPTH && depth::exceeds(&out[start..], MAX_DEPTH) {
        out.truncate(start);
        return Err(CodecError::Depth);
    }
    Ok(())
}

/// Decodes a value, which must use all of the bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    decode_as(bytes, false)
}

/// Decodes a value in the form for programs or for people.
fn decode_as<T: DeserializeOwned>(bytes: &[u8], readable: bool) -> Result<T, CodecError> {
    let mut decoder = Decoder::new(bytes, readable);
    let value = T::deserialize(&mut decoder)?;
    match decoder.remaining() {
        0 => Ok(value),
        more => Err(CodecError::Trailing(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fmt;

    fn round_trip<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T) {
        let mut bytes = Vec::new();
        encode(value, &mut bytes).unwrap();
        assert_eq!(&decode::<T>(&bytes).unwrap(), value);
    }

    #[test]
    fn values_are_read_back_unchanged() {
        round_trip(&serde_json::json!({"a": [1, -2, 0.1, null, {"b": true}]}));
        round_trip(&BTreeMap::from([((1u8, -1i64), Some("x".to_string()))]));
        round_trip(&(u128::MAX, i128::MIN, f64::INFINITY, 'é', (), vec![(), ()]));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let mut bytes = Vec::new();
        encode(&"text", &mut bytes).unwrap();
        assert!(matches!(decode::<u8>(&bytes), Err(CodecError::Decode(_))));
        assert!(matches!(
            decode::<String>(&bytes[..3]),
            Err(CodecError::Decode(_))
        ));
        bytes.push(0);
        assert!(matches!(
            decode::<String>(&bytes),
            Err(CodecError::Trailing(1))
        ));
    }

    #[test]
    fn a_value_that_could_not_be_read_again_is_not_written() {
        let nested = |levels: usize| {
            (0..levels).fold(serde_json::Value::Null, |inner, _| {
                serde_json::json!([inner, "filler"])
            })
        };
        let mut bytes = Vec::new();
        encode(&nested(MAX_DEPTH - 1), &mut bytes).unwrap();
        assert_eq!(
            decode::<serde_json::Value>(&bytes).unwrap(),
            nested(MAX_DEPTH - 1)
        );
        let error = encode(&nested(MAX_DEPTH + 2), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, CodecError::Depth));
    }

    #[test]
    fn variants_count_as_levels() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        enum Nest {
            In(Box<Nest>),
            End,
        }

        let nested =
            |levels: usize| (0..levels).fold(Nest::End, |nest, _| Nest::In(Box::new(nest)));
        round_trip(&nested(MAX_DEPTH));
        let deep = [0x81, 0xa2, b'I', b'n'].repeat(1_000_000);
        assert!(matches!(decode::<Nest>(&deep), Err(CodecError::Depth)));
        let error = encode(&nested(MAX_DEPTH + 1), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, CodecError::Depth));
    }

    #[test]
    fn an_empty_list_at_the_last_level_is_read_back() {
        let nested =
            (0..MAX_DEPTH).fold(serde_json::json!([]), |inner, _| serde_json::json!([inner]));
        round_trip(&nested);
    }

    #[test]
    fn hostile_lengths_allocate_nothing_and_hostile_nesting_ends() {
        for bytes in [
            &[0xdd, 0xff, 0xff, 0xff, 0xff, 1][..],
            &[0xdb, 0xff, 0xff, 0xff, 0xff, b'a'],
            &[0xc6, 0xff, 0xff, 0xff, 0xff, 1],
            &[0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1],
            &[0x91; 10_000],
        ] {
            assert!(decode::<Vec<u64>>(bytes).is_err());
            assert!(decode::<serde_json::Value>(bytes).is_err());
            assert!(decode::<String>(bytes).is_err());
        }
    }
}
