//! Writes MessagePack without serde. The bytes are those that serde would write.

/// The beginning of a list of this many values, which follow.
pub fn array(len: usize, out: &mut Vec<u8>) {
    if len < 16 {
        out.push(0x90 | small(len));
    } else {
        long(len, [None, Some(0xdc), Some(0xdd)], out);
    }
}

/// The beginning of a map of this many pairs, which follow.
pub fn map(len: usize, out: &mut Vec<u8>) {
    if len < 16 {
        out.push(0x80 | small(len));
    } else {
        long(len, [None, Some(0xde), Some(0xdf)], out);
    }
}

/// `nil`.
pub fn nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

/// A boolean.
pub fn boolean(value: bool, out: &mut Vec<u8>) {
    out.push(0xc2 | u8::from(value));
}

/// A number, in the shortest form.
pub fn number(number: u64, out: &mut Vec<u8>) {
    // Most numbers are indices.
    match u8::try_from(number) {
        Ok(small @ 0..0x80) => out.push(small),
        _ => long_number(number, out),
    }
}

fn long_number(number: u64, out: &mut Vec<u8>) {
    // Each slice has a length that is known at compile time, so that it is stored and not copied.
    let [high @ .., e, f, g, h] = number.to_be_bytes();
    match number {
        0..0x100 => out.extend_from_slice(&[0xcc, h]),
        0x100..0x1_0000 => out.extend_from_slice(&[0xcd, g, h]),
        0x1_0000..0x1_0000_0000 => out.extend_from_slice(&[0xce, e, f, g, h]),
        _ => {
            out.push(0xcf);
            out.extend_from_slice(&high);
            out.extend_from_slice(&[e, f, g, h]);
        }
    }
}

/// A number that may be negative, in the shortest form.
pub fn signed(signed: i64, out: &mut Vec<u8>) {
    let Err(_) = u64::try_from(signed).map(|unsigned| number(unsigned, out)) else {
        return;
    };
    let [high @ .., e, f, g, h] = signed.to_be_bytes();
    match signed {
        -0x20.. => out.push(h),
        -0x80.. => out.extend_from_slice(&[0xd0, h]),
        -0x8000.. => out.extend_from_slice(&[0xd1, g, h]),
        -0x8000_0000.. => out.extend_from_slice(&[0xd2, e, f, g, h]),
        _ => {
            out.push(0xd3);
            out.extend_from_slice(&high);
            out.extend_from_slice(&[e, f, g, h]);
        }
    }
}

/// A text.
pub fn text(text: &str, out: &mut Vec<u8>) {
    if text.len() < 32 {
        out.push(0xa0 | small(text.len()));
    } else {
        long(text.len(), [Some(0xd9), Some(0xda), Some(0xdb)], out);
    }
    out.extend_from_slice(text.as_bytes());
}

/// A string of bytes.
pub fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.len() < 0x100 {
        out.extend_from_slice(&[0xc4, small(bytes.len())]);
    } else {
        long(bytes.len(), [None, Some(0xc5), Some(0xc6)], out);
    }
    out.extend_from_slice(bytes);
}

/// A marker, and a length of one, two or four bytes. Not every kind has all of these.
fn long(len: usize, [one, two, four]: [Option<u8>; 3], out: &mut Vec<u8>) {
    let [.., e, f, g, h] = (len as u64).to_be_bytes();
    match (len, one, two, four) {
        (0..0x100, Some(one), _, _) => out.extend_from_slice(&[one, h]),
        (0..0x1_0000, _, Some(two), _) => out.extend_from_slice(&[two, g, h]),
        (_, _, _, Some(four)) => out.extend_from_slice(&[four, e, f, g, h]),
        _ => unreachable!("every kind has lengths of two and of four bytes"),
    }
}

/// A value, or `nil`.
pub fn option<T>(value: Option<T>, out: &mut Vec<u8>, pack: impl FnOnce(T, &mut Vec<u8>)) {
    match value {
        Some(value) => pack(value, out),
        None => nil(out),
    }
}

/// A list of values of one type.
pub fn list<T>(
    values: impl ExactSizeIterator<Item = T>,
    out: &mut Vec<u8>,
    mut pack: impl FnMut(T, &mut Vec<u8>),
) {
    array(values.len(), out);
    for value in values {
        pack(value, out);
    }
}

/// The only byte of a length that the caller has checked to be below 256.
fn small(len: usize) -> u8 {
    len.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Bytes, encode};

    fn same<T: serde_core::Serialize>(value: &T, packed: impl FnOnce(&mut Vec<u8>)) {
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
