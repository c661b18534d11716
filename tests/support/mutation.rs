//! Bytes as damage and malice change them, and limits for the code that reads them.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The MessagePack markers before a length of four bytes: of a list, a map, a text, a byte string and an extension.
const LONG: [u8; 5] = [0xdd, 0xdf, 0xdb, 0xc6, 0xc9];

/// A change to bytes.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
    /// Claims that many bytes follow.
    Claim(Index, u8, u32),
}

impl Mutation {
    fn any() -> impl Strategy<Value = Self> {
        let at = any::<Index>;
        let length = prop_oneof![Just(u32::MAX), Just(1 << 31), Just(1 << 20), any::<u32>()];
        prop_oneof![
            (at(), 0u8..8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
            (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
            (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
            (at(), 1usize..9).prop_map(|(at, length)| Mutation::Remove(at, length)),
            (at(), 1usize..65).prop_map(|(at, length)| Mutation::Repeat(at, length)),
            at().prop_map(Mutation::Cut),
            (at(), prop::sample::select(&LONG), length)
                .prop_map(|(at, marker, length)| Mutation::Claim(at, marker, length)),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: &Index| at.index(bytes.len() + 1);
        let end = |at: usize, length: usize| bytes.len().min(at + length);
        match self {
            Mutation::Flip(at, bit) => {
                let at = place(at);
                bytes
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|byte| *byte ^= 1 << bit);
            }
            Mutation::Set(at, new) => {
                let at = place(at);
                bytes
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|byte| *byte = *new);
            }
            Mutation::Insert(at, new) => {
                let at = place(at);
                bytes.splice(at..at, new.iter().copied());
            }
            Mutation::Remove(at, length) => {
                let at = place(at);
                bytes.drain(at..end(at, *length));
            }
            Mutation::Repeat(at, length) => {
                let at = place(at);
                let part = bytes[at..end(at, *length)].to_vec();
                bytes.splice(at..at, part);
            }
            Mutation::Cut(at) => bytes.truncate(place(at)),
            Mutation::Claim(at, marker, length) => {
                let at = place(at);
                let claim = std::iter::once(*marker).chain(length.to_be_bytes());
                bytes.splice(at..end(at, 1), claim);
            }
        }
    }
}

/// One of these, changed a few times, or any bytes.
pub fn mutated(good: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let changed = (prop::sample::select(good), vec(Mutation::any(), 0..6));
    prop_oneof![
        9 => changed.prop_map(|(mut bytes, mutations)| {
            for mutation in mutations {
                mutation.apply(&mut bytes);
            }
            bytes
        }),
        1 => vec(any::<u8>(), 0..200),
    ]
}

/// Runs a check on bytes that it must not trust, with limits on its memory and its time.
///
/// # Panics
///
/// If the check panics or exceeds a limit.
pub fn bounded(bytes: &[u8], check: fn(&[u8])) {
    let start = Instant::now();
    let used = allocation_counter::measure(|| check(bytes)).bytes_max;
    // One byte can describe a value of a hundred bytes in memory. And serde reserves up to 1 MiB for a list before it has read
    // an item, also for a list inside a list.
    let allowed = (2 << 20) + 256 * bytes.len() as u64;
    assert!(
        used <= allowed,
        "{} bytes use {used} bytes of memory",
        bytes.len()
    );
    // Long enough for a busy machine, and too short for a length of 2³² that is trusted.
    assert!(start.elapsed() < Duration::from_secs(10), "{bytes:02x?}");
}
