//! Names of flows, graphs and triggers.

use crate::error::SetupError;

/// Names are parts of addresses and of thread ids.
pub(crate) fn check_name(name: &str) -> Result<(), SetupError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    // A segment of a path with only dots has a meaning of its own.
    let only_dots = name.chars().all(|c| c == '.');
    if only_dots || name.len() > 128 || !name.chars().all(allowed) {
        return Err(SetupError::Name { name: name.into() });
    }
    Ok(())
}
