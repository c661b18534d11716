//! Encodes checkpoints in the rows of the log, and decodes them.
//!
//! A row has the end of a checkpoint that began in the row before it, then whole checkpoints, then the beginning of one that ends
//! in the next row. So all rows but the last are full, for any sizes of checkpoints.

use petalflow::checkpoint::StoredCheckpoint;

/// The checkpoint that the numbers of the next ones in a row are relative to: the last one in the row that is relative to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reference {
    seq: u64,
    base: u64,
    created_ms: u64,
}

/// The first number of a checkpoint that is relative to no other.
const ABSOLUTE: u64 = 1;

/// The base is not that of the reference.
const OTHER_BASE: u64 = 2;

impl Reference {
    pub(crate) fn to(checkpoint: &StoredCheckpoint) -> Self {
        Reference {
            seq: checkpoint.seq,
            base: checkpoint.base,
            created_ms: checkpoint.created_ms,
        }
    }
}

/// Encodes a checkpoint: the length of what follows, the numbers, the bytes.
pub(crate) fn encode(checkpoint: &StoredCheckpoint, reference: Option<Reference>) -> Vec<u8> {
    let mut numbers = Vec::with_capacity(24);
    let created_ms = if let Some(reference) = reference {
        let distance = checkpoint.seq.wrapping_sub(reference.seq) << 2;
        if checkpoint.base == reference.base {
            write_varint(distance, &mut numbers);
        } else {
            write_varint(distance | OTHER_BASE, &mut numbers);
            write_varint(checkpoint.base, &mut numbers);
        }
        checkpoint.created_ms.wrapping_sub(reference.created_ms)
    } else {
        write_varint(ABSOLUTE, &mut numbers);
        write_varint(checkpoint.seq, &mut numbers);
        write_varint(checkpoint.base, &mut numbers);
        checkpoint.created_ms
    };
    write_varint(created_ms, &mut numbers);
    let mut out = Vec::with_capacity(numbers.len() + checkpoint.bytes.len() + 5);
    write_varint((numbers.len() + checkpoint.bytes.len()) as u64, &mut out);
    out.extend_from_slice(&numbers);
    out.extend_from_slice(&checkpoint.bytes);
    out
}

/// What a row contains.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The checkpoints that end in the row, except one that began in a row that was not read.
    pub(crate) checkpoints: Vec<StoredCheckpoint>,
    /// The checkpoint that later ones in this row are relative to.
    pub(crate) reference: Option<Reference>,
    /// The beginning of a checkpoint that ends in the next row, and which is relative to the reference of this row.
    pub(crate) partial: Vec<u8>,
}

impl Row {
    /// Decodes a row of which the first `carried` bytes belong to a checkpoint that began in the row `before`, which is `None` if
    /// that row was not read. `None` if the bytes are damaged.
    pub(crate) fn decode(bytes: &[u8], carried: usize, before: Option<&Row>) -> Option<Self> {
        let (carried, mut rest) = bytes.split_at_checked(carried)?;
        let mut row = Row::default();
        match before {
            Some(before) if carried.is_empty() => before.partial.is_empty().then_some(())?,
            Some(before) => {
                let whole = [&before.partial, carried].concat();
                let (checkpoint, _, after) = decode_one(&whole, before.reference)??;
                after.is_empty().then(|| row.checkpoints.push(checkpoint))?;
            }
            None => {}
        }
        while !rest.is_empty() {
            let Some((checkpoint, absolute, after)) = decode_one(rest, row.reference)? else {
                row.partial = rest.to_vec();
                break;
            };
            if absolute {
                row.reference = Some(Reference::to(&checkpoint));
            }
            row.checkpoints.push(checkpoint);
            rest = after;
        }
        Some(row)
    }
}

/// Decodes the first checkpoint of the bytes. Returns it, whether it is relative to no other, and the bytes after it.
/// `Some(None)` if it is incomplete, and `None` if the bytes are damaged.
#[expect(clippy::option_option, reason = "damaged, incomplete, or complete")]
fn decode_one(
    bytes: &[u8],
    reference: Option<Reference>,
) -> Option<Option<(StoredCheckpoint, bool, &[u8])>> {
    let mut from = bytes;
    let Some(len) = read_varint(&mut from) else {
        // A length that does not end within its bytes.
        return (bytes.len() < 10).then_some(None);
    };
    let Some((mut entry, after)) = from.split_at_checked(usize::try_from(len).ok()?) else {
        return Some(None);
    };
    let first = read_varint(&mut entry)?;
    let absolute = first == ABSOLUTE;
    let mut checkpoint = StoredCheckpoint::default();
    if absolute {
        checkpoint.seq = read_varint(&mut entry)?;
        checkpoint.base = read_varint(&mut entry)?;
        checkpoint.created_ms = read_varint(&mut entry)?;
    } else {
        let reference = reference?;
        checkpoint.seq = reference.seq.wrapping_add(first >> 2);
        checkpoint.base = match first & OTHER_BASE {
            0 => reference.base,
            _ => read_varint(&mut entry)?,
        };
        checkpoint.created_ms = reference.created_ms.wrapping_add(read_varint(&mut entry)?);
    }
    checkpoint.bytes = entry.to_vec();
    Some(Some((checkpoint, absolute, after)))
}

/// Seven bits per byte, the lowest first. All bytes but the last have the highest bit.
fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn read_varint(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, byte) in from.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *from = &from[index + 1..];
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(seq: u64, base: u64, created_ms: u64, size: usize) -> StoredCheckpoint {
        StoredCheckpoint {
            seq,
            base,
            created_ms,
            bytes: vec![7; size],
        }
    }

    /// Checkpoints whose numbers are near and far, and whose clock goes back.
    fn checkpoints() -> Vec<StoredCheckpoint> {
        vec![
            checkpoint(0, 0, 5_000, 0),
            checkpoint(1, 0, 4_000, 200),
            checkpoint(9, 9, u64::MAX, 1),
            checkpoint(1 << 31, 0, 0, 130),
        ]
    }

    #[test]
    fn a_row_is_decoded_wherever_it_is_cut() {
        let all = checkpoints();
        let mut bytes = encode(&all[0], None);
        let mut ends = vec![bytes.len()];
        for checkpoint in &all[1..3] {
            bytes.extend(encode(checkpoint, Some(Reference::to(&all[0]))));
            ends.push(bytes.len());
        }
        let last = encode(&all[3], Some(Reference::to(&all[0])));
        bytes.extend(&last);
        for cut in ends[2] + 1..bytes.len() {
            let first = Row::decode(&bytes[..cut], 0, Some(&Row::default())).expect("it is whole");
            assert_eq!(first.checkpoints, all[..3]);
            assert_eq!(first.partial, bytes[ends[2]..cut]);
            let second = Row::decode(&bytes[cut..], bytes.len() - cut, Some(&first));
            assert_eq!(second.expect("it is whole").checkpoints, all[3..]);
        }
    }

    #[test]
    fn damaged_rows_are_refused_or_are_other_rows() {
        let all = checkpoints();
        let mut bytes = encode(&all[0], None);
        bytes.extend(encode(&all[1], Some(Reference::to(&all[0]))));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                // It may still be a row with other checkpoints. It must not panic.
                let _ = Row::decode(&damaged, 0, Some(&Row::default()));
                let before = Row {
                    partial: vec![3],
                    ..Row::default()
                };
                let _ = Row::decode(&damaged, at, Some(&before));
            }
        }
        assert!(Row::decode(&bytes, bytes.len() + 1, None).is_none());
    }
}
