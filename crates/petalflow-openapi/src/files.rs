//! Reads the files of a document.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::reference;

/// The most bytes of all files of a document.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The folder of a document. No file outside of it is read.
#[derive(Clone)]
pub(super) struct Folder {
    /// Without symbolic links.
    path: PathBuf,
    /// The bytes that may still be read.
    left: u64,
}

impl Folder {
    /// The folder of a file, and the name of the file.
    pub(super) fn of(file: &Path) -> Result<(Self, String), String> {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or("it is no file: give the path of a file whose name is UTF-8")?;
        let parent = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = Folder {
            path: fs::canonicalize(parent).map_err(|error| error.to_string())?,
            left: MOST_BYTES,
        };
        Ok((folder, name.into()))
    }

    /// The text of a file of the folder. Symbolic links must stay in the folder.
    pub(super) fn read(&mut self, file: &str) -> Result<String, String> {
        let outside = || {
            "it is outside of the folder of the document: move it into the folder, or give its text with `file`"
                .to_owned()
        };
        let correct = |problem: &dyn std::fmt::Display| {
            format!("{problem}: add the file, or correct the reference")
        };
        if file.starts_with('/') || file.starts_with("..") || reference::is_address(file) {
            return Err(outside());
        }
        let path = fs::canonicalize(self.path.join(file)).map_err(|error| correct(&error))?;
        if !path.starts_with(&self.path) {
            return Err(outside());
        }
        if !path.is_file() {
            return Err(correct(&"it is no file"));
        }
        let opened = File::open(path).map_err(|error| correct(&error))?;
        let mut text = String::new();
        let read = opened.take(self.left + 1).read_to_string(&mut text);
        let bytes = read.map_err(|error| error.to_string())? as u64;
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            format!("the files of the document have more than {MOST_BYTES} bytes: leave out what no operation needs")
        })?;
        Ok(text)
    }
}
