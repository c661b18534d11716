//! The strict form of JSON Schemas.
//!
//! [`strict`] converts the neutral schema of a tool, for example
//! [`ToolSpec::parameters`](petalflow::tool::ToolSpec::parameters), for providers that enforce schemas. Keywords that they do
//! not support are moved to the description, where the model reads them.
//!
//! ```
//! use petalflow::tool::schema;
//! use petalflow::tool::schemars::{self, JsonSchema};
//! use petalflow_llm::schema::{NotStrict, strict};
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Search {
//!     /// Words of the title.
//!     query: String,
//!     limit: Option<u8>,
//! }
//!
//! let neutral = schema::of::<Search>();
//! assert_eq!(neutral["required"], json!(["query"]));
//!
//! let strict = strict(&neutral)?;
//! assert!(strict["required"].as_array().unwrap().contains(&json!("limit")));
//! assert_eq!(strict["properties"]["limit"]["type"], json!(["integer", "null"]));
//! # Ok::<(), NotStrict>(())
//! ```

#[cfg(feature = "providers")]
mod dialects;
mod hints;
mod simple;
mod strict;

#[cfg(feature = "providers")]
pub(crate) use dialects::{gemini, object};
pub use strict::{NotStrict, strict};
