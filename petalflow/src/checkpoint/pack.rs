//! MessagePack by hand, for petalflow's own records. What serde would write is the same, and takes longer: to run, and to
//! compile.

/// How many values follow as one.
#[inline]
pub(crate) fn array(len: usize, out: &mut Vec<u8>) {
    match len {
        0..16 => out.push(0x90 | small(len)),
        16..0x1_0000 => headed(0xdc, &small_bytes::<2>(len), out),
        _ => headed(0xdd, &small_bytes::<4>(len), out),
    }
}

/// How many pairs of a key and a value follow as one; there are fewer than 16.
#[inline]
pub(crate) fn small_map(len: u8, out: &mut Vec<u8>) {
    debug_assert!(len < 16);
    out.push(0x80 | len);
}

/// A yes or a no.
#[inline]
pub(crate) fn flag(flag: bool, out: &mut Vec<u8>) {
    out.push(0xc2 | u8::from(flag));
}

/// A number, as short as it can be.
#[inline]
pub(crate) fn number(number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    match number {
        0..0x80 => out.push(bytes[7]),
        0x80..0x100 => headed(0xcc, &bytes[7..], out),
        0x100..0x1_0000 => headed(0xcd, &bytes[6..], out),
        0x1_0000..0x1_0000_0000 => headed(0xce, &bytes[4..], out),
        _ => headed(0xcf, &bytes, out),
    }
}

/// A text.
#[inline]
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    match text.len() {
        len @ 0..32 => out.push(0xa0 | small(len)),
        len @ 32..0x100 => headed(0xd9, &small_bytes::<1>(len), out),
        len @ 0x100..0x1_0000 => headed(0xda, &small_bytes::<2>(len), out),
        len => headed(0xdb, &small_bytes::<4>(len), out),
    }
    out.extend_from_slice(text.as_bytes());
}

/// A string of bytes.
#[inline]
pub(crate) fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        len @ 0..0x100 => headed(0xc4, &small_bytes::<1>(len), out),
        len @ 0x100..0x1_0000 => headed(0xc5, &small_bytes::<2>(len), out),
        len => headed(0xc6, &small_bytes::<4>(len), out),
    }
    out.extend_from_slice(bytes);
}

/// A value that may be missing.
pub(crate) fn option<T>(value: Option<T>, out: &mut Vec<u8>, pack: impl FnOnce(T, &mut Vec<u8>)) {
    match value {
        Some(value) => pack(value, out),
        None => out.push(0xc0),
    }
}

/// Values of one kind.
pub(crate) fn list<T>(
    values: impl ExactSizeIterator<Item = T>,
    out: &mut Vec<u8>,
    mut pack: impl FnMut(T, &mut Vec<u8>),
) {
    array(values.len(), out);
    for value in values {
        pack(value, out);
    }
}

#[inline]
fn headed(marker: u8, rest: &[u8], out: &mut Vec<u8>) {
    out.push(marker);
    out.extend_from_slice(rest);
}

/// The last byte; the caller has seen to it that there is no other.
#[inline]
fn small(len: usize) -> u8 {
    len.to_le_bytes()[0]
}

/// The last bytes, the highest first; the caller has seen to it that there are no others.
fn small_bytes<const N: usize>(len: usize) -> [u8; N] {
    let all = (len as u64).to_be_bytes();
    std::array::from_fn(|place| all[8 - N + place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Bytes, encode};

    fn same<T: serde::Serialize>(value: &T, packed: impl FnOnce(&mut Vec<u8>)) {
        let (mut by_serde, mut by_hand) = (Vec::new(), Vec::new());
        encode(value, &mut by_serde).unwrap();
        packed(&mut by_hand);
        assert!(by_serde == by_hand);
    }

    #[test]
    fn the_bytes_are_those_that_serde_writes() {
        let edges = [0, 1, 15, 16, 31, 32, 127, 128, 255, 256, 65_535, 65_536];
        for edge in edges {
            same(&edge, |out| number(edge, out));
            let len = usize::try_from(edge).unwrap();
            let words = "x".repeat(len);
            same(&words, |out| text(&words, out));
            same(&Bytes(words.as_bytes()), |out| bytes(words.as_bytes(), out));
            same(&vec![1_u8; len], |out| {
                list(std::iter::repeat_n(1, len), out, number);
            });
        }
        for large in [u64::from(u32::MAX), 1 << 32, u64::MAX] {
            same(&large, |out| number(large, out));
            same(&Some(large), |out| option(Some(large), out, number));
        }
        same(&None::<u64>, |out| option(None, out, number));
    }
}
