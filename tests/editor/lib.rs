//! What rust-analyzer shows in a program that uses petalflow; see `editor.rs`.
