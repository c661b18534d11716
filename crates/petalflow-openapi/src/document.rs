//! The document as it was read, and the references in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::files::Folder;
use super::{OpenApiError, reference};

/// The most references that lead to references.
const MOST_REFERENCES: usize = 32;

/// A document of OpenAPI 3, with the other files that it refers to.
#[derive(Clone)]
pub(super) struct Document {
    /// References in it, and in the files, are [complete](reference::complete).
    root: Value,
    /// The name of its file.
    name: Option<String>,
    folder: Option<Folder>,
    /// The other files, or why they cannot be read.
    files: BTreeMap<String, Result<Value, String>>,
}

impl Document {
    pub(super) fn from_json(text: &str) -> Result<Self, OpenApiError> {
        let value = json(text).map_err(|problem| OpenApiError::Syntax {
            format: "JSON",
            problem,
        })?;
        Document::new(value)
    }

    #[cfg(feature = "yaml")]
    pub(super) fn from_yaml(text: &str) -> Result<Self, OpenApiError> {
        let value = yaml(text).map_err(|problem| OpenApiError::Syntax {
            format: "YAML",
            problem,
        })?;
        Document::new(value)
    }

    /// Reads the file, and those in its folder that it refers to.
    pub(super) fn from_file(path: &Path) -> Result<Self, OpenApiError> {
        let wrong = |problem: String| OpenApiError::File {
            file: path.display().to_string(),
            problem,
        };
        let (mut folder, name) = Folder::of(path).map_err(wrong)?;
        let text = folder.read(&name).map_err(wrong)?;
        let value = parsed(&name, &text).map_err(wrong)?;
        let mut document = Document::with_name(value, Some(name))?;
        document.folder = Some(folder);
        document.read_files();
        Ok(document)
    }

    pub(super) fn new(value: Value) -> Result<Self, OpenApiError> {
        Document::with_name(value, None)
    }

    /// Adds a file that the program has, under the path or the address that references have.
    pub(super) fn add_file(&mut self, name: &str, text: &str) -> Result<(), OpenApiError> {
        let wrong = |problem: String| OpenApiError::File {
            file: name.into(),
            problem,
        };
        let mut value = parsed(name, text).map_err(wrong)?;
        let name = reference::joined(reference::DOCUMENT, name);
        reference::complete(&mut value, &name, self.name.as_deref());
        self.files.insert(name, Ok(value));
        self.read_files();
        Ok(())
    }

    /// Reads the files of the folder that something refers to, and that are not there yet.
    fn read_files(&mut self) {
        let Some(folder) = &mut self.folder else {
            return;
        };
        let known = self.files.values().flatten();
        let mut pending: Vec<String> = Vec::new();
        for value in known.chain([&self.root]) {
            pending.extend(reference::files(value).into_iter().map(Into::into));
        }
        while let Some(file) = pending.pop() {
            if reference::is_address(&file) || self.files.contains_key(&file) {
                continue;
            }
            let read = folder.read(&file).and_then(|text| parsed(&file, &text));
            let value = read.map(|mut value| {
                reference::complete(&mut value, &file, self.name.as_deref());
                pending.extend(reference::files(&value).into_iter().map(Into::into));
                value
            });
            self.files.insert(file, value);
        }
    }

    fn with_name(mut value: Value, name: Option<String>) -> Result<Self, OpenApiError> {
        let version = match (&value["openapi"], &value["swagger"]) {
            (Value::String(version), _) => version.clone(),
            // In YAML, `3.1` without quotes is a number.
            (version @ Value::Number(_), _) => version.to_string(),
            (_, Value::Null) => {
                return Err(OpenApiError::Version {
                    found: "no OpenAPI document, since it has no field `openapi`".into(),
                    fix: "give the document of the service, not a page about it",
                });
            }
            (_, version) => {
                return Err(OpenApiError::Version {
                    found: format!("of version {version} of Swagger"),
                    fix: "convert it, for example with the program `swagger2openapi`",
                });
            }
        };
        let supported = ["3.0", "3.1", "3.2"];
        if !supported
            .iter()
            .any(|it| version == *it || version.starts_with(&format!("{it}.")))
        {
            return Err(OpenApiError::Version {
                found: format!("of version `{version}` of OpenAPI"),
                fix: "convert it to one of them",
            });
        }
        reference::complete(&mut value, reference::DOCUMENT, name.as_deref());
        Ok(Document {
            root: value,
            name,
            folder: None,
            files: BTreeMap::new(),
        })
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// What a reference leads to.
    pub(super) fn target(&self, reference: &str) -> Result<&Value, String> {
        let (file, pointer) = reference::split(reference);
        let value = match self.files.get(file) {
            Some(Ok(value)) => value,
            Some(Err(problem)) => {
                return Err(format!(
                    "it refers to `{reference}`, and the file `{file}` cannot be used: {problem}"
                ));
            }
            None if file == reference::DOCUMENT => &self.root,
            None if reference::is_address(file) => {
                return Err(format!(
                    "it refers to `{reference}`, and addresses are not fetched: give the text of `{file}` with `file`"
                ));
            }
            None => {
                return Err(format!(
                    "it refers to `{reference}`, and the file `{file}` was not given: read the document with `from_file`, or give the text of the file with `file`"
                ));
            }
        };
        // In a fragment, pointers are percent-encoded.
        let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        value.pointer(&decoded).ok_or_else(|| {
            let owner = match file {
                reference::DOCUMENT => "the document".into(),
                file => format!("the file `{file}`"),
            };
            format!("it refers to `{reference}`, which {owner} does not have: add it, or correct the reference")
        })
    }

    /// The value, or what it refers to.
    pub(super) fn resolve<'d>(&'d self, mut value: &'d Value) -> Result<&'d Value, String> {
        for _ in 0..MOST_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            value = self.target(reference)?;
        }
        Err("a reference in it leads to itself: let it lead to a value".into())
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(feature = "yaml")]
fn yaml(text: &str) -> Result<Value, String> {
    let read = serde_saphyr::from_str_with_options(text, yaml_options(text.len()));
    read.map_err(|error| error.to_string())
}

/// Reads a file, in JSON if its name says so, and in YAML otherwise.
fn parsed(name: &str, text: &str) -> Result<Value, String> {
    let ending = Path::new(name).extension();
    if ending.is_some_and(|it| it.eq_ignore_ascii_case("json")) {
        return json(text).map_err(|problem| format!("it is no JSON: {problem}"));
    }
    #[cfg(feature = "yaml")]
    return yaml(text).map_err(|problem| format!("it is no YAML: {problem}"));
    #[cfg(not(feature = "yaml"))]
    json(text).map_err(|problem| {
        format!(
            "it is no JSON, and YAML needs the feature `yaml` of `petalflow-openapi`: {problem}"
        )
    })
}

/// The usual limits, with as many values as the text can have: documents of large services have more than a settings file.
#[cfg(feature = "yaml")]
fn yaml_options(bytes: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: bytes.max(1_000),
            max_events: bytes.saturating_mul(2).max(1_000),
        },
        with_snippet: false,
    }
}

/// Reads an object of the document. `what` is its name in the error.
pub(super) fn read<T: DeserializeOwned>(value: &Value, what: &str) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("{what} is not as OpenAPI says: {error}"))
}
