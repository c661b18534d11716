//! The document, as far as it can be read.

use std::path::PathBuf;

use petalflow_conversation_document::{Conversation, Source, check_leniently};

use crate::check;

/// A document, and what is wrong with it.
#[derive(Default)]
pub(crate) struct Document {
    /// The file, if there is one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Reads a document from the first folder that has it.
pub(crate) fn read(path: &str, folders: &[PathBuf]) -> Document {
    let places: Vec<PathBuf> = folders.iter().map(|folder| folder.join(path)).collect();
    let Some(file) = places.iter().find(|place| place.is_file()) else {
        return Document {
            errors: vec![missing(path, &places)],
            ..Document::default()
        };
    };
    let mut document = match Source::read(file) {
        Ok(source) => of_source(&source.named(path)),
        Err(error) => Document {
            errors: vec![format!("`{path}` cannot be read: {error}")],
            ..Document::default()
        },
    };
    // `include_str!` takes a path that is relative to another file.
    document.file = Some(file.canonicalize().unwrap_or_else(|_| file.clone()));
    document
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
        conversation,
        errors,
        warnings: diagnostics.warnings().map(ToString::to_string).collect(),
    }
}

fn missing(path: &str, places: &[PathBuf]) -> String {
    let quoted = |place: &PathBuf| format!("`{}`", place.display());
    let places: Vec<String> = places.iter().map(quoted).collect();
    format!(
        "there is no file `{path}`: looked for {}",
        places.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_missing_file_is_one_error_that_names_the_places() {
        let document = read("nowhere.json", &["/a".into(), "/b".into()]);
        assert_eq!(
            document.errors,
            ["there is no file `nowhere.json`: looked for `/a/nowhere.json` and `/b/nowhere.json`"]
        );
    }
}
