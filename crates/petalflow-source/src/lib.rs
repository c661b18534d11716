//! Documents in JSON and YAML: values with their places, and everything that is wrong with them at once.
//!
//! A kind of document has an enum of [codes](Code). [`Source::inspect`] parses a text and lets the rules of that kind
//! add their findings to a [`Report`]. What comes out are [`Diagnostics`] with file, line and column. The first rules are
//! usually those of a [JSON Schema](schema::check) that is made from the types.

mod diagnostic;
mod folders;
mod json;
pub mod names;
mod order;
mod pointer;
mod report;
pub mod schema;
mod source;
mod tree;
mod yaml;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Position, Severity};
pub use folders::Folders;
pub use order::Order;
pub use pointer::Pointer;
pub use report::{Finding, Report};
pub use schema::Codes;
pub use source::{Format, Source};
