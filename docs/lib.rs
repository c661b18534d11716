#![cfg_attr(all(doc, not(doctest)), doc = include_str!(concat!(env!("OUT_DIR"), "/README.md")))]
#![cfg_attr(not(doc), doc = "The documents of petalflow as pages.")]
// A page for each document of the repository: `build.rs` writes the list. Lints see no documents.
#![cfg(any(doc, doctest))]

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The examples of attributes and derives. Their package cannot run them without a second build of petalflow.
#[cfg(doctest)]
mod macros {
    #[doc = include_str!("../petalflow-macros/docs/ask.md")]
    mod ask {}
    #[doc = include_str!("../petalflow-macros/docs/node.md")]
    mod node {}
    #[doc = include_str!("../petalflow-macros/docs/route.md")]
    mod route {}
    #[doc = include_str!("../petalflow-macros/docs/state.md")]
    mod state {}
    #[doc = include_str!("../petalflow-macros/docs/tool.md")]
    mod tool {}
}
