//! What the examples of petalflow share with their tests.

pub mod doc_audit;
