//! Files that a document of YAML includes.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::source::tree::MAX_BYTES;

/// The most files that a document includes, with those that they include, and each as often as it is named.
const MAX_FILES: usize = 256;

/// The most files that include each other.
const MAX_LEVELS: usize = 16;

/// Where the files are.
#[derive(Clone, Debug, Default)]
pub(crate) enum Files {
    /// A text without files.
    #[default]
    None,
    /// In this folder.
    Folder(PathBuf),
    /// Paths and texts.
    Texts(Vec<(String, String)>),
}

/// The files that were read for a document. The document itself has the number 0.
pub(crate) struct Includes<'s> {
    document: &'s str,
    files: &'s Files,
    /// The paths of the files that are being read, outermost first.
    open: Vec<String>,
    /// The paths as they are written.
    read: Vec<String>,
    /// The number of the file in which an error is.
    pub(crate) failed: usize,
}

impl<'s> Includes<'s> {
    pub(crate) fn new(document: &'s str, files: &'s Files) -> Self {
        Includes {
            document,
            files,
            open: Vec::new(),
            read: Vec::new(),
            failed: 0,
        }
    }

    /// Opens a file. Returns its number and its text, or why it cannot be included.
    pub(crate) fn begin(&mut self, path: &str) -> Result<(usize, String), String> {
        if self.open.iter().any(|open| open == path) {
            let chain = self.open.join("` includes `");
            return Err(format!("`{chain}` includes `{path}`, which never ends"));
        }
        if self.open.len() == MAX_LEVELS {
            return Err(format!(
                "more than {MAX_LEVELS} files include each other, down to `{path}`"
            ));
        }
        if self.read.len() == MAX_FILES {
            return Err(format!("the document includes more than {MAX_FILES} files"));
        }
        let text = self.text(path)?;
        self.open.push(path.into());
        self.read.push(path.into());
        Ok((self.read.len(), text))
    }

    /// Says that the file that was begun last is read to its end.
    pub(crate) fn end(&mut self) {
        self.open.pop();
    }

    fn text(&self, path: &str) -> Result<String, String> {
        match self.files {
            Files::None => Err(format!(
                "`!include {path}` reads a file, and this text has no folder: read the document from its file"
            )),
            Files::Folder(folder) => read(&folder.join(path))
                .map_err(|error| format!("`{}` cannot be read: {error}", self.name_of(path))),
            Files::Texts(texts) => {
                let found = texts.iter().find(|(name, _)| name == path);
                found
                    .map(|(_, text)| text.clone())
                    .ok_or_else(|| format!("there is no text for `!include {path}`"))
            }
        }
    }

    /// The paths of the files that were read, each once.
    pub(crate) fn into_paths(self) -> Vec<String> {
        let mut paths = self.read;
        paths.sort();
        paths.dedup();
        paths
    }

    /// The name of a file in messages: that of the document, or a path beside it.
    pub(crate) fn name(&self, file: usize) -> String {
        match file.checked_sub(1).and_then(|index| self.read.get(index)) {
            Some(path) => self.name_of(path),
            None => self.document.into(),
        }
    }

    fn name_of(&self, path: &str) -> String {
        let folder = Path::new(self.document).parent();
        let name = folder.map_or_else(|| path.into(), |folder| folder.join(path));
        name.display().to_string()
    }
}

/// The text of a file, which may be one byte longer than a document can be.
pub(crate) fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let longest = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let file = std::fs::File::open(path)?;
    file.take(longest.saturating_add(1))
        .read_to_string(&mut text)?;
    Ok(text)
}
