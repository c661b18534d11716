//! Names of artifacts and of their owners.

use std::fmt::Write as _;

use super::ArtifactError;

/// The longest name, in bytes. A name of a file can have three times as many, which file systems allow.
const LONGEST: usize = 80;

/// Who an artifact belongs to.
///
/// ```
/// use petalflow_agent::artifacts::Owner;
///
/// assert_ne!(Owner::Thread("ann".into()), Owner::User("ann".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// The thread with this id.
    Thread(String),
    /// The user with this id.
    User(String),
}

impl Owner {
    /// A text for the owner that differs from those of all other owners: `t-` or `u-`, and the [encoded](encoded) id.
    pub(crate) fn key(&self) -> String {
        match self {
            Owner::Thread(id) => format!("t-{}", encoded(id)),
            Owner::User(id) => format!("u-{}", encoded(id)),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ArtifactError> {
        let (what, id) = match self {
            Owner::Thread(id) => ("a thread with artifacts", id),
            Owner::User(id) => ("a user with artifacts", id),
        };
        check_length(what, id)
    }
}

/// Checks the name of an artifact. It becomes a part of a path, but is encoded before.
pub(crate) fn check(name: &str) -> Result<(), ArtifactError> {
    let what = "an artifact";
    check_length(what, name)?;
    let refused = |why: &str| {
        Err(ArtifactError::Name {
            what,
            name: name.to_string(),
            why: why.to_string(),
        })
    };
    if name.contains(['/', '\\']) {
        return refused(if name.contains('/') {
            "it has a `/`"
        } else {
            "it has a `\\`"
        });
    }
    if name.starts_with('.') {
        return refused("it begins with a dot");
    }
    if name.chars().any(char::is_control) {
        return refused("it has a control character");
    }
    Ok(())
}

fn check_length(what: &'static str, name: &str) -> Result<(), ArtifactError> {
    let why = match name.len() {
        0 => "it is empty".to_string(),
        length if length > LONGEST => format!("it has {length} bytes, and {LONGEST} are allowed"),
        _ => return Ok(()),
    };
    Err(ArtifactError::Name {
        what,
        name: name.to_string(),
        why,
    })
}

/// A name as a part of a path that is safe on every file system, and differs for different names also if the file system
/// does not tell upper case from lower case.
pub(crate) fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(text, "%{byte:02x}")),
        }
    }
    text
}

/// The name that was encoded; `None` if the text is not an encoded name.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_name_is_safe_and_can_be_decoded() {
        for name in ["a.txt", "A.txt", "très bien", "100%", "花", "a b", "CON"] {
            let text = encoded(name);
            assert!(text.is_ascii() && !text.contains('/'), "{text}");
            assert_eq!(decoded(&text).as_deref(), Some(name));
        }
        assert_ne!(encoded("A").to_lowercase(), encoded("a"));
        assert_eq!(decoded("%4"), None);
        assert_eq!(decoded("%zz"), None);
    }

    #[test]
    fn names_that_could_leave_the_folder_are_refused() {
        for name in [
            "",
            "..",
            ".",
            ".hidden",
            "a/b",
            "/etc",
            "a\\b",
            "a\0b",
            "a\nb",
            &"x".repeat(81),
        ] {
            assert!(check(name).is_err(), "{name:?}");
        }
        assert!(check(&"x".repeat(80)).is_ok());
    }
}
