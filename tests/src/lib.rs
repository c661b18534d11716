//! Tests of petalflow as its users see it: behaviour in `tests/`, compile errors in `ui/`.

#[doc = include_str!("../../docs/rules.md")]
#[cfg(doctest)]
pub mod rules {}

#[doc = include_str!("../../docs/upgrades.md")]
#[cfg(doctest)]
pub mod upgrades {}
