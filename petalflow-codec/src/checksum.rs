//! Checksums of stored payloads. `docs/reference/checkpoint-format.md` describes the form; change both together.

use std::hash::Hasher as _;

/// Begins each payload that has a checksum. Its first byte begins no stored value and is no layout of checkpoints.
const MARKER: [u8; 4] = [0xc1, b'P', b'F', b'C'];

/// The version of the form.
const VERSION: u8 = 1;

/// The length of the marker, the version and the checksum.
const HEADER: usize = MARKER.len() + 1 + size_of::<u64>();

/// Puts a checksum of the payload and its context before the payload.
#[inline]
pub fn add(context: &[u8], bytes: &mut Vec<u8>) {
    let mut header = [0; HEADER];
    let (marker, rest) = header.split_at_mut(MARKER.len());
    marker.copy_from_slice(&MARKER);
    rest[0] = VERSION;
    rest[1..].copy_from_slice(&checksum(context, bytes));
    bytes.splice(0..0, header);
}

/// Checks a payload and removes its checksum. Unless it is `required`, a payload may have none.
///
/// # Errors
///
/// What is wrong with the payload.
#[inline]
pub fn check_and_remove(context: &[u8], bytes: &mut Vec<u8>, required: bool) -> Result<(), String> {
    if !bytes.starts_with(&MARKER) && !required {
        return Ok(());
    }
    let Some((header, payload)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(format!(
            "it has {} bytes, too few for its checksum",
            bytes.len()
        ));
    };
    let (marker, rest) = header.split_at(MARKER.len());
    if marker != MARKER {
        return Err("its first bytes are not those of a checksum".into());
    }
    if rest[0] != VERSION {
        return Err(format!(
            "its checksum has form {}, and this program knows form {VERSION}",
            rest[0]
        ));
    }
    if rest[1..] != checksum(context, payload) {
        return Err("its checksum is wrong, so it is not what was stored".into());
    }
    bytes.drain(..HEADER);
    Ok(())
}

/// A published function with a fixed key: the result must not change between builds.
#[inline]
fn checksum(context: &[u8], payload: &[u8]) -> [u8; 8] {
    let mut hasher = siphasher::sip::SipHasher13::new();
    hasher.write(context);
    hasher.write(payload);
    hasher.finish().to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_same_in_all_releases() {
        let mut bytes = b"payload".to_vec();
        add(b"context", &mut bytes);
        assert_eq!(bytes, b"\xc1PFC\x01\x02\xc5\x0e\x92\x85\xce\xb5\x69payload");
        assert_eq!(check_and_remove(b"context", &mut bytes, true), Ok(()));
        assert_eq!(bytes, b"payload");
    }

    #[test]
    fn a_changed_payload_is_an_error() {
        let mut stored = b"payload".to_vec();
        add(b"context", &mut stored);
        for bit in 0..8 * stored.len() {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let result = check_and_remove(b"context", &mut damaged, true);
            assert!(result.is_err(), "bit {bit}");
        }
        for end in 0..stored.len() {
            let result = check_and_remove(b"context", &mut stored[..end].to_vec(), true);
            assert!(result.is_err(), "{end} bytes");
        }
        assert!(check_and_remove(b"another", &mut stored, true).is_err());
    }

    #[test]
    fn a_payload_may_have_no_checksum_where_none_is_required() {
        for payload in [&b""[..], b"\x01payload"] {
            let mut bytes = payload.to_vec();
            assert_eq!(check_and_remove(b"context", &mut bytes, false), Ok(()));
            assert_eq!(bytes, payload);
            assert!(check_and_remove(b"context", &mut bytes, true).is_err());
        }
    }
}
