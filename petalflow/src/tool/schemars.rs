//! What `#[derive(JsonSchema)]` with `#[schemars(crate = "petalflow::tool::schemars")]` names, for programs that do not depend
//! on the crate [`schemars`](https://docs.rs/schemars/1) themselves.
//!
//! It is not all of the crate: an item of the same name as a common trait would make rustc's messages about that trait worse.
//!
//! ```
//! use petalflow::tool::schemars::{self, JsonSchema};
//!
//! #[derive(JsonSchema)]
//! # #[allow(dead_code)]
//! struct Filter {
//!     since: u16,
//! }
//!
//! let schema = petalflow::tool::schema::of::<Filter>();
//! assert_eq!(schema["properties"]["since"]["type"], "integer");
//! ```

#[doc(hidden)]
pub use ::schemars::{_private, _schemars_maybe_schema_id, _schemars_maybe_to_value, transform};
pub use ::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
