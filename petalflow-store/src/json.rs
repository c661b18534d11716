//! `Serialize` for ids and threads: readable JSON, for example for a web page. Stores use another form.
//!
//! Written by hand, because serde's derive is not in the default build.

use crate::ids::{Namespace, TaskId};
use crate::{ThreadInfo, ThreadStatus};

/// Serializes types as their text.
#[doc(hidden)]
#[macro_export]
macro_rules! as_text {
    ($($name:ty),*) => {$(
        impl ::serde_core::Serialize for $name {
            fn serialize<Z: ::serde_core::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

/// Serializes a type as an object of these values.
#[doc(hidden)]
#[macro_export]
macro_rules! as_object {
    ($([$($generics:tt)*])? $name:ident $(<$($argument:tt),*>)?, |$this:ident| $($field:ident = $value:expr),*) => {
        impl $(<$($generics)*>)? ::serde_core::Serialize for $name $(<$($argument),*>)? {
            fn serialize<Z: ::serde_core::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                use ::serde_core::ser::SerializeMap as _;
                let $this = self;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry(stringify!($field), &$value)?;)*
                map.end()
            }
        }
    };
    ($name:ident, $($field:ident)*) => {
        $crate::as_object!($name, |this| $($field = this.$field),*);
    };
}

as_text!(TaskId, Namespace, ThreadStatus);

as_object!(ThreadInfo, id flow status labels created_ms updated_ms due_ms checkpoints bytes);
