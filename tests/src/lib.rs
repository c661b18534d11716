//! Tests of petalflow as its users see it: behaviour in `tests/`, compile errors in `ui/`.

#[doc = include_str!("../../docs/reference/rules.md")]
#[cfg(doctest)]
pub mod rules {}

#[doc = include_str!("../../docs/guide/upgrades.md")]
#[cfg(doctest)]
pub mod upgrades {}

#[doc = include_str!("../../docs/guide/threads.md")]
#[cfg(doctest)]
pub mod threads {}
