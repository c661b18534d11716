//! The operations of a document.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::Document;
use super::{OperationError, names};

/// The methods of operations.
const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// An operation of a document: a method at a path.
///
/// ```
/// use petalflow_openapi::OpenApi;
///
/// let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
///     "paths": { "/books": { "get": { "tags": ["books"] }, "post": { "operationId": "addBook" } } } }"#;
/// let api = OpenApi::from_json(document)?;
/// let operations = api.all_operations();
/// assert_eq!((&*operations[0].id, &*operations[1].id), ("get_books", "addBook"));
/// assert!(operations[0].is_read() && operations[0].has_tag("books"));
/// # Ok::<(), petalflow_openapi::OpenApiError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The `operationId`. Without one, the method and the path, such as `get_books_id`.
    pub id: String,
    /// The name of its tool: the [prefix](crate::OpenApi::prefix) and the id, in characters that providers accept. If it would be
    /// that of another operation, it ends in a number.
    pub name: String,
    /// The method, in capitals.
    pub method: String,
    /// The path, such as `/books/{id}`.
    pub path: String,
    /// The tags.
    pub tags: Vec<String>,
    /// What it does, in a few words.
    pub summary: String,
    /// Whether the service advises against it.
    pub deprecated: bool,
}

impl Operation {
    /// Whether it only reads: its method is GET, HEAD, OPTIONS or TRACE.
    pub fn is_read(&self) -> bool {
        matches!(&*self.method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
    }

    /// Whether it has this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|it| it == tag)
    }

    /// Whether a repeated request does what one request does.
    pub(super) fn is_idempotent(&self) -> bool {
        self.is_read() || matches!(&*self.method, "PUT" | "DELETE")
    }

    /// The method and the path.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn problem(&self, problem: String) -> OperationError {
        OperationError {
            operation: self.title(),
            id: self.id.clone(),
            problem,
        }
    }
}

/// An operation with its place in the document.
#[derive(Clone)]
pub(super) struct Listed<'d> {
    pub(super) operation: Operation,
    /// The path item.
    pub(super) item: &'d Value,
    /// The operation itself.
    pub(super) value: &'d Value,
}

/// All operations, in the order of their paths and methods. Names depend on nothing but the document, so that stored
/// conversations keep theirs.
pub(super) fn all<'d>(document: &'d Document, prefix: &str) -> Vec<Listed<'d>> {
    let paths = document.root().get("paths").and_then(Value::as_object);
    let mut all = Vec::new();
    for (path, item) in paths.into_iter().flatten() {
        if !path.starts_with('/') {
            continue;
        }
        // What a wrong reference hides has no methods: `hidden` lists it.
        let Ok(item) = document.resolve(item) else {
            continue;
        };
        for method in METHODS {
            if let Some(value) = item.get(method) {
                let operation = operation(method, path, value);
                all.push(Listed {
                    operation,
                    item,
                    value,
                });
            }
        }
    }
    name(&mut all, prefix);
    all
}

/// The paths whose reference leads to nothing.
pub(super) fn hidden(document: &Document) -> Vec<OperationError> {
    let paths = document.root().get("paths").and_then(Value::as_object);
    let paths = paths.into_iter().flatten();
    let hidden = paths.filter_map(|(path, item)| {
        let problem = document.resolve(item).err()?;
        Some(OperationError {
            operation: path.clone(),
            id: String::new(),
            problem,
        })
    });
    hidden.collect()
}

fn operation(method: &str, path: &str, value: &Value) -> Operation {
    let text = |field: &str| value.get(field).and_then(Value::as_str);
    let id = match text("operationId") {
        Some(id) if !id.trim().is_empty() => id.into(),
        _ => names::valid(&format!("{method} {path}"), method),
    };
    let tags = value.get("tags").and_then(Value::as_array);
    let tags = tags.into_iter().flatten().filter_map(Value::as_str);
    Operation {
        id,
        name: String::new(),
        method: method.to_uppercase(),
        path: path.into(),
        tags: tags.map(Into::into).collect(),
        summary: text("summary").unwrap_or_default().trim().into(),
        deprecated: value.get("deprecated") == Some(&Value::Bool(true)),
    }
}

/// Gives each operation the name of its tool. An id that is valid keeps its name, whatever others become.
fn name(all: &mut [Listed<'_>], prefix: &str) {
    let mut taken = BTreeSet::new();
    for is_valid in [true, false] {
        for Listed { operation, .. } in &mut *all {
            let whole = format!("{prefix}{}", operation.id);
            if names::is_valid(&whole) == is_valid {
                let name = names::valid(&whole, &operation.method);
                operation.name = names::unique(name, &mut taken);
            }
        }
    }
}
