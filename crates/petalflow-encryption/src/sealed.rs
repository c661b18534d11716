//! The header of a sealed payload. `docs/reference/checkpoint-format.md` describes it: change both together.

use petalflow::checkpoint::{SEALED_MARKER, StoreError};

use crate::key::is_id;

/// The version of the form.
const VERSION: u8 = 1;

/// The algorithm that sealed a payload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    HmacSha256,
    XChaCha20Poly1305,
}

impl Algorithm {
    const ALL: [Self; 2] = [Algorithm::HmacSha256, Algorithm::XChaCha20Poly1305];

    fn code(self) -> u8 {
        match self {
            Algorithm::HmacSha256 => 1,
            Algorithm::XChaCha20Poly1305 => 2,
        }
    }

    /// The word for a payload that it has sealed.
    fn participle(self) -> &'static str {
        match self {
            Algorithm::HmacSha256 => "signed",
            Algorithm::XChaCha20Poly1305 => "encrypted",
        }
    }
}

/// A header, with capacity for `rest` bytes after it.
pub(super) fn header(algorithm: Algorithm, id: &str, rest: usize) -> Vec<u8> {
    let mut header = Vec::with_capacity(SEALED_MARKER.len() + 3 + id.len() + rest);
    header.extend_from_slice(&SEALED_MARKER);
    let Ok(length) = u8::try_from(id.len()) else {
        unreachable!("a key's id has at most 64 bytes")
    };
    header.extend_from_slice(&[VERSION, algorithm.code(), length]);
    header.extend_from_slice(id.as_bytes());
    header
}

/// Splits sealed bytes into the header, the id in it, and the rest.
pub(super) fn split(expected: Algorithm, bytes: &[u8]) -> Result<(&[u8], &str, &[u8]), StoreError> {
    let wanted = expected.participle();
    let Some(fields) = bytes.strip_prefix(&SEALED_MARKER) else {
        return Err(refused(format!(
            "it is not sealed, and this program reads only what was {wanted}"
        )));
    };
    let [version, code, length, rest @ ..] = fields else {
        return Err(cut_short());
    };
    if *version != VERSION {
        return Err(refused(format!(
            "it is sealed in form {version}, and this program knows form {VERSION}: it was changed, or made by a newer petalflow"
        )));
    }
    // Checked first: a payload must not choose the algorithm that checks it.
    match Algorithm::ALL
        .into_iter()
        .find(|known| known.code() == *code)
    {
        Some(found) if found == expected => {}
        Some(found) => {
            return Err(refused(format!(
                "it is {}, and this program reads only what was {wanted}",
                found.participle()
            )));
        }
        None => {
            return Err(refused(format!(
                "it is sealed by an algorithm of number {code}, and this program reads only what was {wanted}"
            )));
        }
    }
    let Some((id, rest)) = rest.split_at_checked(usize::from(*length)) else {
        return Err(cut_short());
    };
    let header = &bytes[..bytes.len() - rest.len()];
    match std::str::from_utf8(id) {
        Ok(text) if is_id(id) => Ok((header, text, rest)),
        _ => Err(refused("its key has an id that no key can have".into())),
    }
}

/// The error for a payload that ends too early.
pub(super) fn cut_short() -> StoreError {
    refused("it is sealed, but its end is missing".into())
}

/// The error for a payload that does not fit its seal.
pub(super) fn does_not_fit(id: &str) -> StoreError {
    refused(format!(
        "its seal does not fit: it was changed, or belongs to another place, or was sealed with another key that has the id `{id}`"
    ))
}

fn refused(problem: String) -> StoreError {
    StoreError::Protection(problem)
}
