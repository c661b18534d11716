//! A document can have another name, a visibility and documentation, and no prelude is needed.
#![deny(warnings, missing_docs)]
#![no_implicit_prelude]

::petalflow_documents::flow_from!(
    /// It makes poems.
    pub Verses = "../poem.agent.yaml"
);

/// Options of this crate have the names of the standard library.
pub struct Option;

fn main() {
    let _: fn(VersesServices) -> _ = Verses::new;
    ::std::assert!(Verses::WARNINGS.is_empty());
}
