//! Documents in JSON and YAML as values with their positions, and everything that is wrong with
//! them at once.
//!
//! A kind of document has an enum of [codes](Code). [`Source::inspect`] parses a text and lets the rules of that kind
//! add their findings to a [`Report`]. What comes out are [`Diagnostics`] with file, line and column. The first rules are
//! usually those of a [JSON Schema](schema::check) that is made from the types.

mod content;
mod descriptions;
mod diagnostic;
mod folders;
#[cfg(any(feature = "conversations", feature = "documents"))]
pub(crate) mod foreign;
mod includes;
mod json;
mod keywords;
mod lines;
pub mod names;
mod order;
mod pointer;
mod positions;
mod quick;
mod report;
pub mod schema;
mod shape;
mod text;
mod tree;
mod typed;
mod yaml;

pub use content::Content;
pub use diagnostic::{Code, Diagnostic, Diagnostics, Position, Severity};
pub use folders::{Folders, included_files};
pub use pointer::Pointer;
pub use report::{Finding, Report};
pub use schema::Codes;
pub use text::{Format, Source};
