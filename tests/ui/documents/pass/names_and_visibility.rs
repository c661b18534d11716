//! A document can have another name, a visibility and documentation, and no prelude is needed.
#![deny(warnings, missing_docs)]
#![no_implicit_prelude]

::petalflow_documents::flow_from!(
    /// It makes poems.
    pub Verses = "../poem.agent.yaml"
);

/// Options of this crate have the names of the standard library.
pub struct Option;

#[::core::prelude::v1::test]
fn the_flow_has_its_services_and_no_warnings() {
    let _: fn(VersesServices) -> _ = Verses::new;
    ::std::assert!(Verses::WARNINGS.is_empty());
}
