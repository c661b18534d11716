//! Tools.

mod attribute;
