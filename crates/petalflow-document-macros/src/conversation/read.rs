//! The document, as far as it can be read.

use std::path::PathBuf;

use petalflow_document_model::conversations::{Conversation, Source, check_leniently};
use petalflow_document_model::source::{Folders, included_files};

use crate::conversation::check;

/// A document, and what is wrong with it.
#[derive(Default)]
pub(crate) struct Document {
    /// The file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// The paths of the files that it includes, and the files.
    pub(crate) included: Vec<(String, String)>,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Reads a document from the first folder that has it.
pub(crate) fn read(path: &str, folders: &Folders) -> Document {
    let failed = |error| Document {
        errors: vec![error],
        ..Document::default()
    };
    let file = match folders.find(path) {
        Ok(file) => file,
        Err(error) => return failed(error),
    };
    let document = match Source::read(&file) {
        Ok(source) => {
            let source = source.named(path);
            Document {
                included: included_files(&file, source.included()),
                ..of_source(&source)
            }
        }
        Err(error) => failed(format!("`{path}` cannot be read: {error}")),
    };
    Document {
        file: Some(file),
        ..document
    }
}

pub(crate) fn of_source(source: &Source) -> Document {
    let (conversation, diagnostics) = check_leniently(source);
    let mut errors: Vec<String> = diagnostics.errors().map(ToString::to_string).collect();
    if let Some(conversation) = &conversation
        && errors.is_empty()
    {
        errors = check::names(source, conversation);
    }
    Document {
        file: None,
        included: Vec::new(),
        conversation,
        errors,
        warnings: diagnostics.warnings().map(ToString::to_string).collect(),
    }
}
