//! MessagePack taken apart by hand, for petalflow's own records.
//!
//! Values of users' types go through serde. These records would cost a visitor with a parser of its own for each type and
//! tuple in them, in every program that stores anything; here they share one.

use super::depth::{self, DEPTH};
use super::error::CodecError;

/// What is left of the bytes of a record. It believes no length: whatever is not there is an error.
pub(crate) struct Unpack<'a> {
    pub(super) rest: &'a [u8],
}

/// Reads a record that takes up all of the bytes.
#[inline]
pub(crate) fn unpack<'a, T>(
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

/// How long a list may be without a doubt; memory for more is taken as items are read.
const TRUSTED: usize = 64;

impl<'a> Unpack<'a> {
    /// A list of exactly so many values, which follow.
    #[inline]
    pub(crate) fn tuple(&mut self, of: usize) -> Result<(), CodecError> {
        match self.items()? {
            len if len == of => Ok(()),
            len => Err(wrong(&format!("a list of {of}"), &format!("one of {len}"))),
        }
    }

    /// Values of one kind.
    #[inline]
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, CodecError>,
    ) -> Result<Vec<T>, CodecError> {
        let len = self.items()?;
        let mut values = Vec::with_capacity(len.min(TRUSTED));
        for _ in 0..len {
            values.push(read(self)?);
        }
        Ok(values)
    }

    /// A value that may be missing.
    #[inline]
    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CodecError>,
    ) -> Result<Option<T>, CodecError> {
        if let Some((0xc0, rest)) = self.rest.split_first() {
            self.rest = rest;
            return Ok(None);
        }
        read(self).map(Some)
    }

    /// A number that fits its type.
    #[inline]
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, CodecError> {
        let number = self.unsigned()?;
        T::try_from(number).map_err(|_| wrong("a smaller number", &number.to_string()))
    }

    /// A yes or a no.
    #[inline]
    pub(crate) fn flag(&mut self) -> Result<bool, CodecError> {
        match self.marker("a flag")? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            other => Err(wrong("a flag", &kind(other))),
        }
    }

    /// A text.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<String, CodecError> {
        self.str().map(Into::into)
    }

    /// A text where it stands.
    #[inline]
    pub(crate) fn str(&mut self) -> Result<&'a str, CodecError> {
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
    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CodecError> {
        let len = match self.marker("bytes")? {
            0xc4 => self.length(1)?,
            0xc5 => self.length(2)?,
            0xc6 => self.length(4)?,
            other => return Err(wrong("bytes", &kind(other))),
        };
        self.take(len)
    }

    /// Any value, as the bytes that it takes up.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<&'a [u8], CodecError> {
        match depth::extent(self.rest, DEPTH) {
            Ok(len) => self.take(len),
            Err(depth::Endless::Deep) => Err(CodecError::Depth),
            Err(depth::Endless::Cut) => Err(cut("a value")),
        }
    }

    #[inline]
    fn items(&mut self) -> Result<usize, CodecError> {
        match self.marker("a list")? {
            small @ 0x90..=0x9f => Ok(usize::from(small & 0x0f)),
            0xdc => self.length(2),
            0xdd => self.length(4),
            other => Err(wrong("a list", &kind(other))),
        }
    }

    #[inline]
    fn unsigned(&mut self) -> Result<u64, CodecError> {
        let marker = self.marker("a number")?;
        match marker {
            0..=0x7f => Ok(marker.into()),
            0xcc..=0xcf => self.digits(1 << (marker - 0xcc)),
            // What other programs may write: signed, and not negative.
            0xd0..=0xd3 if self.rest.first().is_some_and(|first| *first < 0x80) => {
                self.digits(1 << (marker - 0xd0))
            }
            other => Err(wrong("a number", &kind(other))),
        }
    }

    #[inline]
    pub(super) fn length(&mut self, width: usize) -> Result<usize, CodecError> {
        let length = self.digits(width)?;
        usize::try_from(length).map_err(|_| cut("a value"))
    }

    #[inline]
    fn digits(&mut self, width: usize) -> Result<u64, CodecError> {
        let digits = self.take(width)?.iter();
        Ok(digits.fold(0, |sum, digit| sum << 8 | u64::from(*digit)))
    }

    /// So many bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| cut("a value"))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// As many bytes as the number of this width says, which comes first.
    #[inline]
    pub(super) fn sized(&mut self, width: usize) -> Result<&'a [u8], CodecError> {
        let len = self.length(width)?;
        self.take(len)
    }

    #[inline]
    pub(super) fn marker(&mut self, expected: &str) -> Result<u8, CodecError> {
        let (marker, rest) = self.rest.split_first().ok_or_else(|| cut(expected))?;
        self.rest = rest;
        Ok(*marker)
    }

    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| cut("a value"))?;
        self.rest = rest;
        Ok(taken)
    }
}

/// What a marker begins.
#[inline]
fn kind(marker: u8) -> String {
    let kind = match marker {
        0..=0x7f | 0xcc..=0xd3 | 0xe0.. => "a number",
        0x80..=0x8f | 0xde | 0xdf => "a map",
        0x90..=0x9f | 0xdc | 0xdd => "a list",
        0xa0..=0xbf | 0xd9..=0xdb => "a text",
        0xc0 => "nothing",
        0xc2 | 0xc3 => "a flag",
        0xc4..=0xc6 => "bytes",
        0xca | 0xcb => "a fraction",
        0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return format!("the marker {marker:#04x}"),
    };
    kind.into()
}

#[inline]
fn wrong(expected: &str, found: &str) -> CodecError {
    CodecError::Decode(format!("{expected} was expected, and there is {found}"))
}

#[inline]
fn cut(expected: &str) -> CodecError {
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

    fn said<T: std::fmt::Debug>(result: Result<T, CodecError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_serde_writes_is_read() {
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
                unpack(&packed(&list), |u| u.list(Unpack::flag)).unwrap(),
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
    fn what_does_not_fit_is_said() {
        let text = said(unpack(&packed("a"), Unpack::number::<u8>));
        assert_eq!(text, "a number was expected, and there is a text");
        let large = said(unpack(&packed(&300), Unpack::number::<u8>));
        assert_eq!(large, "a smaller number was expected, and there is 300");
        let negative = said(unpack(&packed(&-1), Unpack::number::<u64>));
        assert!(negative.starts_with("a number was expected"), "{negative}");
        let longer = said(unpack(&packed(&[1, 2]), |u| u.tuple(3)));
        assert_eq!(longer, "a list of 3 was expected, and there is one of 2");
        let end = said(unpack(&packed("text")[..3], Unpack::text));
        assert_eq!(end, "a value was expected, and the bytes end");
        let more = said(unpack(&[1, 2], Unpack::number::<u8>));
        assert_eq!(more, "1 bytes follow the value");
        let mut deep = Vec::new();
        (0..=DEPTH).for_each(|_| pack::array(1, &mut deep));
        deep.push(1);
        let deep = said(unpack(&deep, Unpack::value));
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
