//! The file of an exported thread.

use std::path::Path;

use petalflow::thread::ThreadFile;

use crate::exit::{Exit, Failure, Result};

/// Reads the file of a thread. An error names it.
pub(crate) fn read(path: &Path) -> Result<ThreadFile> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::File, format_args!("{}: {error}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    text.parse().map_err(|error| wrong(&error))
}
