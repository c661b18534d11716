#![cfg_attr(all(doc, not(doctest)), doc = include_str!(concat!(env!("OUT_DIR"), "/README.md")))]
#![cfg_attr(not(doc), doc = "The documents of petalflow as pages.")]
// A page for each document of the repository: `build.rs` writes the list. Lints see no documents.
#![cfg(any(doc, doctest))]

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
