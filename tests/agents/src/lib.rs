//! Tests of petalflow's tools, models and agents as their users see them.

#[doc = include_str!("../../../docs/guide/models.md")]
#[cfg(doctest)]
pub mod models {}
