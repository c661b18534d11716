//! Errors of documents.

use std::fmt;

/// Why a document does not become tools.
///
/// ```
/// use petalflow_openapi::{OpenApi, OpenApiError};
///
/// let error = OpenApi::from_json(r#"{ "swagger": "2.0" }"#).unwrap_err();
/// assert!(matches!(error, OpenApiError::Version { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The text is not JSON, or not YAML.
    #[error("the document is no {format}: {problem}")]
    Syntax {
        /// `JSON` or `YAML`.
        format: &'static str,
        /// The problem, with its line.
        problem: String,
    },
    /// A file of the document cannot be used.
    #[error("the file `{file}` of the document cannot be used: {problem}")]
    File {
        /// The path of the file, or its address.
        file: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// The document is of another version, or is no OpenAPI document.
    #[error("the document is {found}, and 3.0, 3.1 and 3.2 of OpenAPI can be read: {fix}")]
    Version {
        /// What the document says.
        found: String,
        /// What to do.
        fix: &'static str,
    },
    /// The document has no operation of this id.
    #[error("the document has no operation with the id `{id}`: {known}")]
    UnknownOperation {
        /// The id that was given.
        id: String,
        /// The ids that the document has.
        known: String,
    },
    /// No operation was selected.
    #[error(
        "no operation of the document is selected: without `operations` and `filter`, these are those of the method GET that are not deprecated"
    )]
    NoOperation,
    /// Operations cannot be tools. All of them are listed.
    #[error("{}", list(.0))]
    Operations(Vec<OperationError>),
    /// A credential does not fit the document.
    #[error("the credential for `{scheme}` does not fit the document: {problem}")]
    Credential {
        /// The name of the security scheme.
        scheme: String,
        /// The problem.
        problem: String,
    },
    /// The address that was given cannot be used.
    #[error("the address of the server cannot be used: {0}")]
    Server(String),
    /// A header that was given cannot be sent. Its value is not shown.
    #[error(
        "the header `{0}` cannot be sent: its name or its value has characters that headers do not have"
    )]
    Header(String),
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {0}")]
    Client(String),
}

/// Why an operation cannot be a tool.
///
/// ```
/// use petalflow_openapi::OpenApi;
///
/// let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
///     "paths": { "/books/{id}": { "get": { "operationId": "getBook" } } } }"#;
/// let problems = OpenApi::from_json(document)?.problems();
/// assert_eq!(problems[0].operation, "GET /books/{id}");
/// assert_eq!(
///     problems[0].to_string(),
///     "`GET /books/{id}` (`getBook`): its path has `{id}`, and no parameter in the path has this name: add it to `parameters`"
/// );
/// # Ok::<(), petalflow_openapi::OpenApiError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationError {
    /// The method and the path. The path alone if its reference leads to nothing, so its methods are not known.
    pub operation: String,
    /// The id of the operation. Empty if its methods are not known.
    pub id: String,
    /// The problem, and what to do.
    pub problem: String,
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.operation)?;
        if !self.id.is_empty() {
            write!(f, " (`{}`)", self.id)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for OperationError {}

/// The most operations that a text lists.
const MOST_LISTED: usize = 10;

fn list(problems: &[OperationError]) -> String {
    let listed = problems.iter().take(MOST_LISTED).map(ToString::to_string);
    let listed = listed.collect::<Vec<_>>().join("; ");
    let more = match problems.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(
        "operations of the document cannot be tools, and `skip_unsupported` leaves such operations out: {listed}{more}"
    )
}
