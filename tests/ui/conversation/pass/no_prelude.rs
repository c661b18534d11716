//! The macro needs nothing from the prelude, and the names of the program do not matter.
#![no_implicit_prelude]
#![deny(missing_docs)]

extern crate petalflow_conversations as talks;

/// Names of the prelude that mean something else.
pub mod names {
    /// No result.
    #[allow(missing_docs, dead_code)]
    pub enum Option {
        Some,
        None,
    }
    /// No text.
    pub struct String;
    /// No list.
    pub struct Vec;
    /// Nothing to do with threads.
    pub trait Send {}

    ::talks::conversation! {
        /// A conversation.
        pub Order("../order.json")
    }
    ::talks::conversation! { pub(crate) AgeTalk("../age.flow.yaml") }
}

mod inner {
    ::talks::conversation! { pub(super) Order("../order.json") }
    ::talks::conversation! { pub(in crate::inner) Hidden("../age.flow.yaml") }

    pub(super) fn is_hidden() -> bool {
        let _ = Hidden;
        hidden::Node::from_name("age") == ::std::option::Option::Some(hidden::Node::Age)
    }
}

fn main() {
    ::talks::conversation! { Local("../order.json") }

    let _ = (
        names::Order::SOURCE,
        names::AgeTalk::WARNINGS,
        inner::Order,
        Local,
    );
    let _ = (
        names::order::Node::Soup,
        inner::order::Node::Soup,
        local::Node::Soup,
    );
    ::std::assert!(inner::is_hidden());
}
