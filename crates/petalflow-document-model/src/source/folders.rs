//! The folders in which a macro looks for a document.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The folders that the path in a macro can be relative to.
///
/// ```
/// use petalflow_document_model::source::Folders;
///
/// let folders = Folders::new().beside("src/main.rs").package("orders", ".");
/// let error = folders.find("order.json").unwrap_err();
/// assert_eq!(
///     error,
///     "there is no file `order.json`: the path is relative to the folder of this file, `src`, or to that of the package \
///      `orders`"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Each with the words that name it in an error.
    all: Vec<(String, PathBuf)>,
    /// The folder of a package in which the source file is, if it is not known where.
    around: Option<PathBuf>,
}

impl Folders {
    /// No folder.
    pub fn new() -> Self {
        Folders::default()
    }

    /// The folder of the source file with the macro, if the compiler knows the file, and then that of the package that is
    /// compiled.
    pub fn of_macro(file: Option<PathBuf>) -> Self {
        let name = std::env::var("CARGO_PKG_NAME");
        let package = std::env::var_os("CARGO_MANIFEST_DIR");
        // rust-analyzer does not say which file it expands.
        let around = package.as_ref().filter(|_| file.is_none());
        let mut folders = Folders {
            around: around.map(PathBuf::from),
            ..Folders::new()
        };
        if let Some(file) = file {
            folders = folders.beside(file);
        }
        match (name, package) {
            (Ok(name), Some(folder)) => folders.package(&name, folder),
            _ => folders,
        }
    }

    /// Adds the folder of a source file.
    #[must_use]
    pub fn beside(mut self, file: impl AsRef<Path>) -> Self {
        if let Some(folder) = file.as_ref().parent() {
            let words = format!("the folder of this file, `{}`,", folder.display());
            self.all.push((words, folder.to_owned()));
        }
        self
    }

    /// Adds the folder of a package.
    #[must_use]
    pub fn package(mut self, name: &str, folder: impl Into<PathBuf>) -> Self {
        // Not the path: errors of a compiler do not depend on where the package is.
        self.all
            .push((format!("that of the package `{name}`"), folder.into()));
        self
    }

    /// Returns the absolute path of a file, from the first folder that has it.
    ///
    /// # Errors
    ///
    /// No folder has it. The text names the folders.
    pub fn find(&self, path: &str) -> Result<PathBuf, String> {
        let mut files = self.all.iter().map(|(_, folder)| folder.join(path));
        if let Some(file) = files.find(|file| file.is_file()) {
            return Ok(file.canonicalize().unwrap_or(file));
        }
        if let Some(file) = self
            .around
            .as_ref()
            .and_then(|folder| find_below(folder, path))
        {
            return Ok(file.canonicalize().unwrap_or(file));
        }
        let words: Vec<&str> = self.all.iter().map(|(words, _)| &words[..]).collect();
        let words = words.join(" or to ");
        Err(format!(
            "there is no file `{path}`: the path is relative to {words}"
        ))
    }
}

/// The most folders of a package that are searched.
const MAX_FOLDERS: usize = 4_096;

/// The file of this path that is relative to a folder of a package, nearest to its root.
fn find_below(package: &Path, path: &str) -> Option<PathBuf> {
    let mut folders = VecDeque::from([package.to_path_buf()]);
    for _ in 0..MAX_FOLDERS {
        let folder = folders.pop_front()?;
        let file = folder.join(path);
        if file.is_file() {
            return Some(file);
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| {
            let name = entry.file_name();
            let is_hidden = name.to_string_lossy().starts_with('.') || name == "target";
            !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        let mut inner: Vec<PathBuf> = inner.map(|entry| entry.path()).collect();
        inner.sort();
        folders.extend(inner);
    }
    None
}

/// The paths of included files, with the files themselves, for a macro that compiles them into a program.
///
/// ```
/// use std::path::Path;
/// use petalflow_document_model::source::included_files;
///
/// let files = included_files(Path::new("flows/order.yaml"), vec!["prompts/hello.yaml".into()]);
/// assert_eq!(files, [("prompts/hello.yaml".to_string(), "flows/prompts/hello.yaml".to_string())]);
/// ```
pub fn included_files(document: &Path, paths: Vec<String>) -> Vec<(String, String)> {
    let folder = document.parent().unwrap_or(document);
    let files = paths.into_iter().filter_map(|path| {
        let file = folder.join(&path).to_str()?.to_string();
        Some((path, file))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_if_the_source_file_is_not_known() {
        // As rust-analyzer expands macros.
        let folders = Folders::of_macro(None);
        let found = folders.find("folders.rs").unwrap();
        assert!(found.ends_with("src/source/folders.rs"), "{found:?}");
        let error = folders.find("no/such/file").unwrap_err();
        assert!(error.contains("petalflow-document-model"), "{error}");
        // `cargo` knows it, and then the path is relative to it.
        let known = Folders::of_macro(Some("tests/main.rs".into()));
        assert!(known.find("folders.rs").is_err());
    }
}
