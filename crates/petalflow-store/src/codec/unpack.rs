//! Reads MessagePack without serde.
//!
//! With serde, each type and tuple of a record would need a visitor with a parser of its own, in every program that stores
//! anything. Here they share one.

use std::ops::RangeInclusive;

use super::depth::{MAX_DEPTH, NoEnd, extent};
use super::error::CodecError;

/// The bytes of a record that have not been read. A length that exceeds them is an error.
#[derive(Debug)]
pub struct Unpack<'a> {
    pub(super) rest: &'a [u8],
}

/// Reads a record, which must use all of the bytes.
pub fn unpack<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(&mut Unpack<'a>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    let mut unpack = Unpack { rest: bytes };
    let value = read(&mut unpack)?;
    match unpack.rest.len() {
        0 => Ok(value),
        more => Err(CodecError::Trailing(more)),
    }
}

/// Memory for at most this many items of a list is reserved before they are read.
const MAX_RESERVED: usize = 64;

impl<'a> Unpack<'a> {
    /// The beginning of a list of exactly this many values.
    pub fn tuple(&mut self, of: usize) -> Result<(), CodecError> {
        match self.items()? {
            len if len == of => Ok(()),
            len => Err(wrong(&format!("a list of {of}"), &format!("one of {len}"))),
        }
    }

    /// The beginning of a list whose length is in this range: its length.
    pub fn tuple_of(&mut self, lengths: RangeInclusive<usize>) -> Result<usize, CodecError> {
        let len = self.items()?;
        if lengths.contains(&len) {
            return Ok(len);
        }
        let expected = format!("a list of {} to {}", lengths.start(), lengths.end());
        Err(wrong(&expected, &format!("one of {len}")))
    }

    /// A list of values of one type.
    pub fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, CodecError>,
    ) -> Result<Vec<T>, CodecError> {
        let len = self.items()?;
        let mut values = Vec::with_capacity(len.min(MAX_RESERVED));
        for _ in 0..len {
            values.push(read(self)?);
        }
        Ok(values)
    }

    /// A value, or `nil`.
    pub fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CodecError>,
    ) -> Result<Option<T>, CodecError> {
        if let Some((0xc0, rest)) = self.rest.split_first() {
            self.rest = rest;
            return Ok(None);
        }
        read(self).map(Some)
    }

    /// A number that fits the type.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Result<T, CodecError> {
        let number = self.unsigned()?;
        T::try_from(number).map_err(|_| wrong("a smaller number", &number.to_string()))
    }

    /// Whether a number follows.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.rest.first(), Some(0..=0x7f | 0xcc..=0xd3))
    }

    /// Whether a short list follows.
    pub(super) fn is_array(&self) -> bool {
        matches!(self.rest.first(), Some(0x90..=0x9f))
    }

    /// A boolean.
    pub fn boolean(&mut self) -> Result<bool, CodecError> {
        match self.marker("a boolean")? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            other => Err(wrong("a boolean", &kind(other))),
        }
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, CodecError> {
        self.str().map(Into::into)
    }

    /// A borrowed text.
    pub fn str(&mut self) -> Result<&'a str, CodecError> {
        let len = match self.marker("a text")? {
            small @ 0xa0..=0xbf => usize::from(small & 0x1f),
            0xd9 => self.length(1)?,
            0xda => self.length(2)?,
            0xdb => self.length(4)?,
            other => return Err(wrong("a text", &kind(other))),
        };
        std::str::from_utf8(self.take(len)?).map_err(|error| CodecError::Decode(error.to_string()))
    }

    /// A string of bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], CodecError> {
        let len = match self.marker("bytes")? {
            0xc4 => self.length(1)?,
            0xc5 => self.length(2)?,
            0xc6 => self.length(4)?,
            other => return Err(wrong("bytes", &kind(other))),
        };
        self.take(len)
    }

    /// The bytes of a value of any kind.
    pub fn value(&mut self) -> Result<&'a [u8], CodecError> {
        match extent(self.rest, MAX_DEPTH) {
            Ok(len) => self.take(len),
            Err(NoEnd::Deep) => Err(CodecError::Depth),
            Err(NoEnd::Truncated) => Err(truncated("a value")),
        }
    }

    pub(super) fn items(&mut self) -> Result<usize, CodecError> {
        match self.marker("a list")? {
            small @ 0x90..=0x9f => Ok(usize::from(small & 0x0f)),
            0xdc => self.length(2),
            0xdd => self.length(4),
            other => Err(wrong("a list", &kind(other))),
        }
    }

    fn unsigned(&mut self) -> Result<u64, CodecError> {
        let marker = self.marker("a number")?;
        match marker {
            0..=0x7f => Ok(marker.into()),
            0xcc..=0xcf => self.digits(1 << (marker - 0xcc)),
            // Other programs may write signed numbers that are not negative.
            0xd0..=0xd3 if self.rest.first().is_some_and(|first| *first < 0x80) => {
                self.digits(1 << (marker - 0xd0))
            }
            other => Err(wrong("a number", &kind(other))),
        }
    }

    pub(super) fn length(&mut self, width: usize) -> Result<usize, CodecError> {
        let length = self.digits(width)?;
        usize::try_from(length).map_err(|_| truncated("a value"))
    }

    fn digits(&mut self, width: usize) -> Result<u64, CodecError> {
        let digits = self.take(width)?.iter();
        Ok(digits.fold(0, |sum, digit| sum << 8 | u64::from(*digit)))
    }

    /// `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| truncated("a value"))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A length of `width` bytes, and that many bytes.
    pub(super) fn sized(&mut self, width: usize) -> Result<&'a [u8], CodecError> {
        let len = self.length(width)?;
        self.take(len)
    }

    pub(super) fn marker(&mut self, expected: &str) -> Result<u8, CodecError> {
        let (marker, rest) = self.rest.split_first().ok_or_else(|| truncated(expected))?;
        self.rest = rest;
        Ok(*marker)
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| truncated("a value"))?;
        self.rest = rest;
        Ok(taken)
    }
}

/// The kind of value that begins with a marker.
fn kind(marker: u8) -> String {
    let kind = match marker {
        0..=0x7f | 0xcc..=0xd3 | 0xe0.. => "a number",
        0x80..=0x8f | 0xde | 0xdf => "a map",
        0x90..=0x9f | 0xdc | 0xdd => "a list",
        0xa0..=0xbf | 0xd9..=0xdb => "a text",
        0xc0 => "nil",
        0xc2 | 0xc3 => "a boolean",
        0xc4..=0xc6 => "bytes",
        0xca | 0xcb => "a fraction",
        0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return format!("the marker {marker:#04x}"),
    };
    kind.into()
}

fn wrong(expected: &str, found: &str) -> CodecError {
    CodecError::Decode(format!("{expected} was expected, and there is {found}"))
}

fn truncated(expected: &str) -> CodecError {
    CodecError::Decode(format!("{expected} was expected, and the bytes end"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Bytes, encode, pack};

    fn packed<T: serde_core::Serialize + ?Sized>(value: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(value, &mut bytes).unwrap();
        bytes
    }

    fn problem<T: std::fmt::Debug>(result: Result<T, CodecError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn values_that_serde_writes_are_read() {
        for edge in [0, 1, 31, 32, 127, 128, 255, 256, 65_535, 65_536_u32] {
            assert_eq!(unpack(&packed(&edge), Unpack::number::<u32>).unwrap(), edge);
            assert_eq!(
                unpack(&packed(&i64::from(edge)), Unpack::number::<u32>).unwrap(),
                edge
            );
            let words = "x".repeat(edge as usize);
            assert_eq!(unpack(&packed(&words), Unpack::text).unwrap(), words);
            let bytes = words.as_bytes();
            assert_eq!(
                unpack(&packed(&Bytes(bytes)), Unpack::bytes).unwrap(),
                bytes
            );
            let list = vec![true; edge as usize];
            assert_eq!(
                unpack(&packed(&list), |u| u.list(Unpack::boolean)).unwrap(),
                list
            );
            assert_eq!(
                unpack(&packed(&list), Unpack::value).unwrap(),
                packed(&list)
            );
        }
        assert_eq!(
            unpack(&packed(&u64::MAX), Unpack::number::<u64>).unwrap(),
            u64::MAX
        );
        let signed = [0xd1, 0x01, 0x00];
        assert_eq!(unpack(&signed, Unpack::number::<u64>).unwrap(), 256_u64);
        for option in [None, Some(7_u8)] {
            let read = unpack(&packed(&option), |u| u.option(Unpack::number));
            assert_eq!(read.unwrap(), option);
        }
    }

    #[test]
    fn errors_state_what_was_expected() {
        let text = problem(unpack(&packed("a"), Unpack::number::<u8>));
        assert_eq!(text, "a number was expected, and there is a text");
        let large = problem(unpack(&packed(&300), Unpack::number::<u8>));
        assert_eq!(large, "a smaller number was expected, and there is 300");
        let negative = problem(unpack(&packed(&-1), Unpack::number::<u64>));
        assert!(negative.starts_with("a number was expected"), "{negative}");
        let longer = problem(unpack(&packed(&[1, 2]), |u| u.tuple(3)));
        assert_eq!(longer, "a list of 3 was expected, and there is one of 2");
        let either = unpack(&packed(&[1, 2]), |u| {
            u.tuple_of(2..=3)?;
            Ok((u.number::<u8>()?, u.number::<u8>()?))
        });
        assert_eq!(either.unwrap(), (1, 2));
        let neither = problem(unpack(&packed(&[1]), |u| u.tuple_of(2..=3)));
        assert_eq!(
            neither,
            "a list of 2 to 3 was expected, and there is one of 1"
        );
        let end = problem(unpack(&packed("text")[..3], Unpack::text));
        assert_eq!(end, "a value was expected, and the bytes end");
        let more = problem(unpack(&[1, 2], Unpack::number::<u8>));
        assert_eq!(more, "1 bytes follow the value");
        let mut deep = Vec::new();
        (0..=MAX_DEPTH).for_each(|_| pack::array(1, &mut deep));
        deep.push(1);
        let deep = problem(unpack(&deep, Unpack::value));
        assert!(deep.contains("levels deep"), "{deep}");
    }

    #[test]
    fn hostile_lengths_allocate_nothing() {
        for bytes in [
            &[0xdd, 0xff, 0xff, 0xff, 0xff, 1][..],
            &[0xdb, 0xff, 0xff, 0xff, 0xff, b'a'],
            &[0xc6, 0xff, 0xff, 0xff, 0xff, 1],
            &[0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1],
        ] {
            assert!(unpack(bytes, |u| u.list(Unpack::number::<u64>)).is_err());
            assert!(unpack(bytes, Unpack::text).is_err());
            assert!(unpack(bytes, Unpack::bytes).is_err());
            assert!(unpack(bytes, Unpack::value).is_err());
        }
    }
}
