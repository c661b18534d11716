//! The length of a MessagePack value in bytes, and how deeply it is nested.

/// How deeply a value may be nested. A deeper value is refused when it is encoded, so every stored value can be decoded.
pub const MAX_DEPTH: usize = 256;

/// Why the end of a value was not found.
pub(crate) enum NoEnd {
    /// It is nested too deeply.
    Deep,
    /// The bytes end before the value ends.
    Truncated,
}

/// Whether a value that was just encoded is nested more than `limit` levels deep.
pub(crate) fn exceeds(bytes: &[u8], limit: usize) -> bool {
    matches!(extent(bytes, limit), Err(NoEnd::Deep))
}

/// The length in bytes of the value at the beginning. It has a stack of its own, so no value can exhaust the stack of the
/// thread.
pub(crate) fn extent(bytes: &[u8], limit: usize) -> Result<usize, NoEnd> {
    let whole = bytes.len();
    let mut bytes = bytes;
    // How many values remain at each level.
    let mut open: Vec<u64> = vec![1];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        let Some((&marker, rest)) = bytes.split_first() else {
            return Err(NoEnd::Truncated);
        };
        let number = |width: usize| {
            let digits = rest.get(..width).unwrap_or_default();
            digits
                .iter()
                .fold(0, |sum, digit| sum << 8 | u64::from(*digit))
        };
        // How many bytes follow the marker, and how many values are inside.
        let (skip, inside) = match marker {
            0x80..=0x8f => (0, 2 * u64::from(marker & 0x0f)),
            0x90..=0x9f => (0, u64::from(marker & 0x0f)),
            0xa0..=0xbf => (u64::from(marker & 0x1f), 0),
            0xc4 | 0xd9 => (1 + number(1), 0),
            0xc5 | 0xda => (2 + number(2), 0),
            0xc6 | 0xdb => (4 + number(4), 0),
            0xc7 => (2 + number(1), 0),
            0xc8 => (3 + number(2), 0),
            0xc9 => (5 + number(4), 0),
            0xcc | 0xd0 => (1, 0),
            0xcd | 0xd1 => (2, 0),
            0xca | 0xce | 0xd2 => (4, 0),
            0xcb | 0xcf | 0xd3 => (8, 0),
            0xd4..=0xd8 => (1 + (1 << (marker - 0xd4)), 0),
            0xdc => (2, number(2)),
            0xdd => (4, number(4)),
            0xde => (2, 2 * number(2)),
            0xdf => (4, 2 * number(4)),
            _ => (0, 0),
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let Some(rest) = rest.get(skip..) else {
            return Err(NoEnd::Truncated);
        };
        bytes = rest;
        if inside > 0 {
            if open.len() > limit {
                return Err(NoEnd::Deep);
            }
            open.push(inside);
        }
    }
    Ok(whole - bytes.len())
}
