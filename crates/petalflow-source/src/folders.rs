//! The folders in which a macro looks for a document.

use std::path::{Path, PathBuf};

/// The folders that the path in a macro can be relative to.
///
/// ```
/// use petalflow_source::Folders;
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
}

impl Folders {
    /// No folder.
    pub fn new() -> Self {
        Folders::default()
    }

    /// The folder of the source file with the macro, if the compiler knows the file, and then that of the package that is
    /// compiled.
    pub fn of_macro(file: Option<PathBuf>) -> Self {
        let folders = match file {
            Some(file) => Folders::new().beside(file),
            None => Folders::new(),
        };
        let name = std::env::var("CARGO_PKG_NAME");
        match (name, std::env::var_os("CARGO_MANIFEST_DIR")) {
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
        let words: Vec<&str> = self.all.iter().map(|(words, _)| &words[..]).collect();
        let words = words.join(" or to ");
        Err(format!(
            "there is no file `{path}`: the path is relative to {words}"
        ))
    }
}

/// The paths of included files, with the files themselves, for a macro that compiles them into a program.
///
/// ```
/// use std::path::Path;
/// use petalflow_source::included_files;
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
