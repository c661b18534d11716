//! Compile errors as users see them; see `ui.rs`.
