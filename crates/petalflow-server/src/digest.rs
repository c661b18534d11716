//! A short text for an identifier of any length.

use sha2::{Digest, Sha256};

/// 32 hexadecimal digits for an identifier, such as that of a request.
pub(crate) fn digest(identifier: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(identifier);
    let first = digest.iter().take(16);
    let digest = first.fold(0, |id, byte| id << 8 | u128::from(*byte));
    format!("{digest:032x}")
}
