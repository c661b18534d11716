//! Paths in a workspace.

/// The maximum length of a path, in bytes.
const MAX_PATH: usize = 500;

/// The path of a file as the workspace names it. The errors are for the model.
pub(in crate::deep) fn normalized(written: &str) -> Result<String, String> {
    let refused = |problem: &str| {
        let written: String = written.chars().take(MAX_PATH).collect();
        Err(format!("`{written}` is no path of a file here: {problem}"))
    };
    if written.len() > MAX_PATH {
        return refused("it is too long");
    }
    if written.contains(['\\', ':']) || written.chars().any(char::is_control) {
        return refused("a path has only names with `/` between them");
    }
    let names = written.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    if names.contains(&"..") {
        return refused("a path does not leave the folder, so it has no `..`");
    }
    if names.iter().any(|name| is_hidden(name)) {
        return refused("names that begin with a dot are not part of the files here");
    }
    // Windows leaves them out.
    if names.iter().any(|name| name.ends_with(['.', ' '])) {
        return refused("a name does not end with a dot or a space");
    }
    if names.is_empty() || written.ends_with('/') {
        return refused("it is the path of a folder");
    }
    Ok(names.join("/"))
}

pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn f44_a_path_has_one_form_and_stays_inside() {
        for (written, path) in [
            ("notes.md", "notes.md"),
            ("/notes/a b.md", "notes/a b.md"),
            ("./notes//./ä.md", "notes/ä.md"),
        ] {
            assert_eq!(normalized(written).unwrap(), path);
        }
        for written in [
            "",
            "/",
            ".",
            "notes/",
            "../a",
            "a/../b",
            "a/..",
            ".git/config",
            "a/.env",
            "C:\\a",
            "C:/a",
            "a\0b",
            "a\nb",
            "a./b",
            "a ",
            &"a".repeat(501),
        ] {
            assert!(normalized(written).is_err(), "{written:?}");
        }
        assert_eq!(
            normalized("a/../b").unwrap_err(),
            "`a/../b` is no path of a file here: a path does not leave the folder, so it has no `..`"
        );
    }
}
