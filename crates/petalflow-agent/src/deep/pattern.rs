//! Patterns of paths and of names of tools: `*`, `?`, `[a-c]`, `{a,b}`, and `**` for any folders.

use globset::{GlobBuilder, GlobMatcher};

use super::error::DeepError;

/// Whether `A` matches `a`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Same,
    Any,
}

/// A pattern of names. A `*` is any text.
pub(super) fn names(pattern: &str) -> Result<GlobMatcher, DeepError> {
    compiled(pattern, pattern, Case::Same)
}

/// A pattern of paths. A `*` does not go beyond a `/`. A pattern without `/` is one of file names in any folder.
pub(super) fn paths(pattern: &str, case: Case) -> Result<GlobMatcher, DeepError> {
    let relative = pattern.trim_start_matches("./").trim_start_matches('/');
    if pattern.contains('/') {
        compiled(pattern, relative, case)
    } else {
        compiled(pattern, &format!("**/{relative}"), case)
    }
}

fn compiled(written: &str, pattern: &str, case: Case) -> Result<GlobMatcher, DeepError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(case == Case::Any)
        .build();
    let glob = glob.map_err(|error| DeepError::Pattern {
        pattern: written.into(),
        problem: error.kind().to_string(),
    })?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::{Case, paths};

    #[test]
    fn f44_a_pattern_without_a_folder_is_one_of_file_names() {
        let table = [
            ("*.md", "notes/a.md", true),
            ("*.md", "a.md", true),
            ("/*.md", "notes/a.md", false),
            ("/*.md", "a.md", true),
            ("notes/**", "notes/a/b.md", true),
            ("notes/*", "notes/a/b.md", false),
            ("**/*.{rs,md}", "src/deep/mod.rs", true),
        ];
        for (pattern, path, matches) in table {
            assert_eq!(
                paths(pattern, Case::Same).unwrap().is_match(path),
                matches,
                "{pattern} {path}"
            );
        }
        let error = paths("a/[b", Case::Any).unwrap_err().to_string();
        assert!(
            error.starts_with("the pattern `a/[b` cannot be read: "),
            "{error}"
        );
    }
}
