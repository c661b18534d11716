//! The stored form of a version: its media type, a line end, and its bytes.

use super::ArtifactError;

/// The longest media type, in bytes.
const LONGEST: usize = 127;

/// A media type and bytes, as they are stored.
pub(crate) fn encode(media_type: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(media_type.len() + 1 + bytes.len());
    stored.extend_from_slice(media_type.as_bytes());
    stored.push(b'\n');
    stored.extend_from_slice(bytes);
    stored
}

/// The media type and the bytes.
pub(crate) fn decode(name: &str, mut stored: Vec<u8>) -> Result<(String, Vec<u8>), ArtifactError> {
    let damaged = || ArtifactError::Damaged(name.to_string());
    let start = stored.iter().take(LONGEST + 1);
    let end = start
        .into_iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(damaged)?;
    let bytes = stored.split_off(end + 1);
    stored.truncate(end);
    let media_type = String::from_utf8(stored).map_err(|_| damaged())?;
    check(&media_type).map_err(|_| damaged())?;
    Ok((media_type, bytes))
}

/// The largest size of the stored form without the bytes of the artifact.
pub(crate) const OVERHEAD: u64 = LONGEST as u64 + 1;

pub(crate) fn check(media_type: &str) -> Result<(), ArtifactError> {
    let is_visible = |byte: u8| (b' '..=b'~').contains(&byte);
    let fits = !media_type.is_empty() && media_type.len() <= LONGEST;
    if fits && media_type.bytes().all(is_visible) {
        return Ok(());
    }
    Err(ArtifactError::MediaType(media_type.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_bytes_are_an_error() {
        let stored = encode("text/plain", b"a\nb");
        assert_eq!(
            decode("x", stored.clone()).unwrap(),
            ("text/plain".into(), b"a\nb".to_vec())
        );
        for cut in 0..10 {
            assert!(decode("x", stored[..cut].to_vec()).is_err());
        }
        assert!(decode("x", vec![0xff; 1_000]).is_err());
        assert!(decode("x", b"\nrest".to_vec()).is_err());
    }
}
