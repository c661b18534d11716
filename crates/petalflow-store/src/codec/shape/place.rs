//! The places of a type, the steps between them, and what ends a look at one.

use std::fmt;

use serde_core::de;

/// What is at one place of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Value(&'static str),
    Option,
    List,
    Map,
    Tuple(usize),
    Struct(&'static [&'static str]),
    Enum(&'static [&'static str]),
}

/// A step from a place to one inside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into an option, a list or a map.
    Inside,
    /// To the member of a tuple with this index.
    Member(usize),
    /// To the field of a struct with this name.
    Field(&'static str),
    /// To the content of the variant with this name.
    Variant(&'static str),
}

/// What one look has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) place: Option<Place>,
    /// A value with these fields was made, or the name of a field that it needs as well.
    pub(super) made: bool,
    pub(super) missing: Option<&'static str>,
    /// The name of a field that was given twice.
    pub(super) twice: Option<&'static str>,
}

/// The error that ends each look.
#[derive(Debug)]
pub(super) enum Stop {
    Here,
    /// A struct needs this field.
    Missing(&'static str),
    /// A struct was given this field twice.
    Twice(&'static str),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the place was found")
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Stop::Here
    }

    fn missing_field(field: &'static str) -> Self {
        Stop::Missing(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Stop::Twice(field)
    }
}
