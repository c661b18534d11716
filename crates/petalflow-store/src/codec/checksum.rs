//! Checksums of stored payloads. `docs/reference/checkpoint-format.md` describes the form; change both together.

use std::hash::Hasher as _;

/// The length of a checksum.
const LENGTH: usize = size_of::<u32>();

/// The first bytes of a payload with a checksum in the form of a version that was never released.
const OLD_MARKER: [u8; 4] = [0xc1, b'P', b'F', b'C'];

/// Puts a checksum of the payload and its context after the payload.
pub fn add(context: &[u8], bytes: &mut Vec<u8>) {
    let checksum = checksum(context, bytes);
    bytes.extend_from_slice(&checksum);
}

/// Checks a payload and removes its checksum.
///
/// # Errors
///
/// What is wrong with the payload.
pub fn check_and_remove(context: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    let Some((payload, found)) = bytes.split_last_chunk::<LENGTH>() else {
        return Err(format!(
            "it has {} bytes, too few for its checksum",
            bytes.len()
        ));
    };
    if *found != checksum(context, payload) {
        return Err(if bytes.starts_with(&OLD_MARKER) {
            "it was stored by a version of petalflow that was never released, and this version cannot read it".into()
        } else {
            "its checksum is wrong, so it is not what was stored".into()
        });
    }
    bytes.truncate(payload.len());
    Ok(())
}

/// A published function with a fixed key: the result must not change between builds.
fn checksum(context: &[u8], payload: &[u8]) -> [u8; LENGTH] {
    let mut hasher = siphasher::sip::SipHasher13::new();
    hasher.write(context);
    hasher.write(payload);
    let [a, b, c, d, ..] = hasher.finish().to_be_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_same_in_all_releases() {
        let mut bytes = b"payload".to_vec();
        add(b"context", &mut bytes);
        assert_eq!(bytes, b"payload\x02\xc5\x0e\x92");
        assert_eq!(check_and_remove(b"context", &mut bytes), Ok(()));
        assert_eq!(bytes, b"payload");
    }

    #[test]
    fn a_changed_payload_is_an_error() {
        let mut stored = b"payload".to_vec();
        add(b"context", &mut stored);
        for bit in 0..8 * stored.len() {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let result = check_and_remove(b"context", &mut damaged);
            assert!(result.is_err(), "bit {bit}");
        }
        for end in 0..stored.len() {
            let result = check_and_remove(b"context", &mut stored[..end].to_vec());
            assert!(result.is_err(), "{end} bytes");
        }
        assert!(check_and_remove(b"another", &mut stored).is_err());
    }

    #[test]
    fn a_payload_of_an_unreleased_form_is_refused_in_words() {
        let mut old = b"\xc1PFC\x01\x02\xc5\x0e\x92\x85\xce\xb5\x69payload".to_vec();
        let problem = check_and_remove(b"context", &mut old).unwrap_err();
        assert!(problem.contains("never released"), "{problem}");
    }
}
