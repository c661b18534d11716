//! Tools from OpenAPI documents.
//!
//! [`OpenApi`] reads the document of a web service, and makes a [tool](petalflow::tool::Tool) of each operation that the program
//! selects: with a schema of its arguments, the credentials of the program, and limits.
//!
//! ```
//! use petalflow_openapi::{Credential, OpenApi};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), petalflow_openapi::OpenApiError> {
//! let document = json!({
//!     "openapi": "3.1.0",
//!     "servers": [{ "url": "https://books.example.com/v1" }],
//!     "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
//!     "security": [{ "token": [] }],
//!     "paths": { "/books": {
//!         "get": { "operationId": "listBooks" },
//!         "post": { "operationId": "addBook", "requestBody": { "content": { "application/json": {} } } },
//!     } },
//! });
//! let api = OpenApi::from_value(document)?.credential("token", Credential::token("secret"));
//! // Without a choice: what only reads.
//! assert_eq!(api.tools()?.names().collect::<Vec<_>>(), ["listBooks"]);
//! // A person must confirm what can change something.
//! let tools = api.operations(["listBooks", "addBook"]).tools()?;
//! assert!(tools.get("addBook").unwrap().confirm(&json!({})).is_some());
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod answer;
mod body;
mod call;
mod credential;
mod document;
mod encode;
mod error;
mod file;
mod files;
mod media_type;
mod multipart;
mod names;
mod openapi;
mod operation;
mod options;
mod parameter;
mod reference;
mod request;
mod schema;
mod secrets;
mod security;
mod send;
mod style;
mod tool;

pub use credential::Credential;
pub use error::{OpenApiError, OperationError};
pub use openapi::OpenApi;
pub use operation::Operation;
