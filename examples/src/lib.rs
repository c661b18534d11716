//! Code that the examples of petalflow and their tests share.

pub mod doc_audit;
