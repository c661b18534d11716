//! Changes of a file, as functions of its text.

use super::listing::MAX_BYTES;

/// A change of a file.
#[derive(Clone, Debug)]
pub(in crate::deep) enum Change {
    /// The file has this text.
    Write(String),
    /// This part of the file, which it has once, becomes another text.
    Edit {
        /// The part.
        old: String,
        /// The other text.
        new: String,
    },
}

impl Change {
    /// The text of the file after the change. The errors are for the model.
    pub(super) fn apply(&self, path: &str, before: Option<&str>) -> Result<String, String> {
        let after = match self {
            Change::Write(text) => text.clone(),
            Change::Edit { old, new } => {
                let Some(before) = before else {
                    return Err(format!("there is no file `{path}` to edit"));
                };
                edited(path, before, old, new)?
            }
        };
        if after.len() > MAX_BYTES {
            let size = after.len();
            return Err(format!(
                "`{path}` would have {size} bytes, and a file has at most {MAX_BYTES}: split it"
            ));
        }
        Ok(after)
    }
}

fn edited(path: &str, before: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("`old` is empty: give the text that is replaced".into());
    }
    let Some(at) = before.find(old) else {
        return Err(format!(
            "`{path}` does not have the text `old`: read the file, and give the text exactly as it is there"
        ));
    };
    let next = at + before[at..].chars().next().map_or(1, char::len_utf8);
    if before[next..].contains(old) {
        return Err(format!(
            "`{path}` has the text `old` more than once: give more of the text around it"
        ));
    }
    let (start, end) = (&before[..at], &before[at + old.len()..]);
    Ok(format!("{start}{new}{end}"))
}

#[cfg(test)]
mod tests {
    use super::{Change, MAX_BYTES};

    fn edit(before: Option<&str>, old: &str, new: &str) -> Result<String, String> {
        let (old, new) = (old.into(), new.into());
        Change::Edit { old, new }.apply("a.md", before)
    }

    #[test]
    fn f44_an_edit_replaces_what_is_there_once() {
        assert_eq!(
            edit(Some("eins zwei"), "zwei", "drei").unwrap(),
            "eins drei"
        );
        assert_eq!(edit(Some("éé!"), "é!", "").unwrap(), "é");
        for (before, old, problem) in [
            (None, "x", "there is no file `a.md` to edit"),
            (
                Some("x"),
                "",
                "`old` is empty: give the text that is replaced",
            ),
            (
                Some("x"),
                "y",
                "`a.md` does not have the text `old`: read the file, and give the text exactly as it is there",
            ),
            // They overlap.
            (
                Some("éxéxé"),
                "éxé",
                "`a.md` has the text `old` more than once: give more of the text around it",
            ),
        ] {
            assert_eq!(edit(before, old, "z").unwrap_err(), problem);
        }
        let large = Change::Write("x".repeat(MAX_BYTES + 1)).apply("a.md", None);
        assert_eq!(
            large.unwrap_err(),
            "`a.md` would have 1048577 bytes, and a file has at most 1048576: split it"
        );
    }
}
