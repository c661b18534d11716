//! Finds documents on disk, reads them and writes them.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::section::Document;
use super::targets::{is_markdown, normal};

/// A path that could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The path.
    pub path: PathBuf,
    /// The description.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The documents, sorted, each file once.
    pub files: Vec<PathBuf>,
    /// The paths that could not be read.
    pub problems: Vec<Problem>,
}

/// Collects the Markdown files that `paths` name or contain.
///
/// A file in `paths` is used with any name. Within folders, hidden folders, `target` and `node_modules` are skipped. Links are
/// followed, but no folder is entered twice.
pub fn collect(paths: &[PathBuf]) -> Found {
    let mut walk = Walk::default();
    for path in paths {
        walk.add_path(&normal(path));
    }
    let mut found = walk.found;
    found.files.sort();
    found.problems.sort();
    // A file may have several paths. The first one is used.
    let mut seen = HashSet::new();
    found
        .files
        .retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    found.problems.dedup();
    found
}

/// Reads one document.
///
/// # Errors
///
/// If it cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<Document, Problem> {
    let text = fs::read_to_string(path).map_err(|error| problem(path, &error))?;
    Ok(Document {
        path: path.to_owned(),
        text,
    })
}

/// Replaces `old` by `new` on disk through a second file, so that a crash leaves one of the two.
///
/// # Errors
///
/// If the file cannot be written, or has changed since it was read. A file that already has the new text is not an error: a
/// resumed audit may have written it before.
pub fn replace(old: &Document, new: &Document) -> Result<(), Problem> {
    let text = read(&old.path)?.text;
    if text == new.text {
        return Ok(());
    }
    if text != old.text {
        let message = "changed while it was being checked, so it was left alone".into();
        return Err(Problem {
            path: old.path.clone(),
            message,
        });
    }
    let replace = || {
        // For a link, its target is replaced.
        let file = old.path.canonicalize()?;
        let mut beside = file.clone().into_os_string();
        beside.push(".doc-audit");
        fs::write(&beside, &new.text)
            .and_then(|()| fs::set_permissions(&beside, file.metadata()?.permissions()))
            .and_then(|()| fs::rename(&beside, &file))
            .inspect_err(|_| _ = fs::remove_file(&beside))
    };
    replace().map_err(|error| problem(&old.path, &error))
}

#[derive(Debug, Default)]
struct Walk {
    found: Found,
    /// The folders entered so far, by canonical path.
    entered: HashSet<PathBuf>,
}

impl Walk {
    fn add_path(&mut self, path: &Path) {
        match path.metadata() {
            Err(error) => self.found.problems.push(problem(path, &error)),
            Ok(metadata) if metadata.is_dir() => self.folder(path),
            Ok(_) => self.file(path),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let entries = folder.canonicalize().and_then(|real| {
            if !self.entered.insert(real) {
                return Ok(Vec::new());
            }
            fs::read_dir(folder)?.collect()
        });
        let mut entries: Vec<fs::DirEntry> = match entries {
            Ok(entries) => entries,
            Err(error) => return self.found.problems.push(problem(folder, &error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let path = if folder == Path::new(".") {
                PathBuf::from(&name)
            } else {
                folder.join(&name)
            };
            // Unlike the entry, the path follows links. A dead link is ignored.
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => {
                    let name = name.to_string_lossy();
                    if !name.starts_with('.') && name != "target" && name != "node_modules" {
                        self.folder(&path);
                    }
                }
                Ok(_) if is_markdown(&path) => self.file(&path),
                Err(error) if is_markdown(&path) => {
                    self.found.problems.push(problem(&path, &error));
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &Path) {
        if path.to_str().is_none() {
            let message = "the name is not UTF-8".into();
            return self.found.problems.push(Problem {
                path: path.to_string_lossy().as_ref().into(),
                message,
            });
        }
        self.found.files.push(path.to_owned());
    }
}

fn problem(path: &Path, error: &io::Error) -> Problem {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::InvalidData => "not UTF-8".into(),
        _ => error.to_string(),
    };
    Problem {
        path: path.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "# A\n").unwrap();
        }
        folder
    }

    fn names(found: &Found, folder: &Path) -> Vec<String> {
        let name = |file: &PathBuf| {
            file.strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/")
        };
        found.files.iter().map(name).collect()
    }

    #[test]
    fn folders_are_walked_in_order() {
        let folder = folder(&[
            "b.md",
            "a/z.MD",
            "a/y.markdown",
            "a/x.txt",
            ".git/c.md",
            "target/d.md",
            "a/node_modules/e.md",
            ".hidden.md",
        ]);
        let found = collect(&[folder.path().join("b.md"), folder.path().to_owned()]);
        assert_eq!(
            names(&found, folder.path()),
            [".hidden.md", "a/y.markdown", "a/z.MD", "b.md"]
        );
        assert_eq!(found.problems, []);
    }

    #[test]
    fn named_files_are_included() {
        let folder = folder(&["notes.txt", ".github/a.md"]);
        let found = collect(&[
            folder.path().join("notes.txt"),
            folder.path().join("./.github"),
        ]);
        assert_eq!(names(&found, folder.path()), [".github/a.md", "notes.txt"]);
    }

    #[test]
    fn wrong_paths_do_not_stop_the_others() {
        let folder = folder(&["a.md"]);
        let found = collect(&[folder.path().join("no"), folder.path().join("a.md")]);
        assert_eq!(names(&found, folder.path()), ["a.md"]);
        assert_eq!(found.problems[0].message, "no such file or folder");
        assert_eq!(found.problems[0].path, folder.path().join("no"));

        fs::write(folder.path().join("b.md"), [0xff]).unwrap();
        assert_eq!(
            read(&folder.path().join("b.md")).unwrap_err().message,
            "not UTF-8"
        );
        assert!(read(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_go_round_in_circles() {
        use std::os::unix::fs::symlink;
        let folder = folder(&["a/b.md"]);
        symlink("..", folder.path().join("a/up")).unwrap();
        symlink("loop", folder.path().join("loop")).unwrap();
        symlink("b.md", folder.path().join("a/c.md")).unwrap();
        symlink("gone.md", folder.path().join("a/d.md")).unwrap();
        let found = collect(&[folder.path().to_owned()]);
        assert_eq!(names(&found, folder.path()), ["a/b.md"]);
        assert_eq!(found.problems.len(), 1, "{found:?}");
        assert!(found.problems[0].path.ends_with("a/d.md"));
    }

    #[test]
    fn only_what_was_read_is_replaced() {
        let folder = folder(&["a.md"]);
        let old = read(&folder.path().join("a.md")).unwrap();
        let new = Document {
            text: "# B\n".into(),
            ..old.clone()
        };
        for _ in 0..2 {
            replace(&old, &new).unwrap();
            assert_eq!(read(&old.path).unwrap(), new);
        }
        fs::write(&old.path, "# C\n").unwrap();
        assert!(replace(&old, &new).unwrap_err().message.contains("changed"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
