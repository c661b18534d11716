//! Tests of the repository itself; see `tidy.rs`.
