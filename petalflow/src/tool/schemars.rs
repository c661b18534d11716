//! The items that `#[derive(JsonSchema)]` with `#[schemars(crate = "petalflow::tool::schemars")]` uses, for programs
//! that do not depend on the crate [`schemars`](https://docs.rs/schemars/1).
//!
//! It has only these items: more names would worsen rustc's messages about traits of the same name.
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
