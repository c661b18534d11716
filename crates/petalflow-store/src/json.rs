//! `Serialize` for ids and threads: readable JSON, for example for a web page. Stores use another form.
//!
//! Written by hand, because serde's derive is not in the default build.

use serde_core::de::{Deserialize, Deserializer, Error as _};
use serde_core::ser::{Serialize, SerializeMap as _, Serializer};

use crate::ids::{Namespace, TaskId};
use crate::question::{Interrupt, InterruptId, InterruptKind};
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

as_text!(InterruptId, Namespace, TaskId, ThreadStatus);

as_object!(ThreadInfo, id flow status labels attributes created_ms updated_ms due_ms checkpoints bytes);

impl<'de> Deserialize<'de> for InterruptId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Interrupt {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("node", &self.node)?;
        map.serialize_entry("namespace", &self.namespace)?;
        map.serialize_entry("index", &self.index)?;
        match &self.kind {
            InterruptKind::Ask { name, question } => {
                map.serialize_entry("kind", "ask")?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("question", question)?;
            }
            InterruptKind::Before => map.serialize_entry("kind", "before")?,
            InterruptKind::After => map.serialize_entry("kind", "after")?,
        }
        map.serialize_entry("text", &self.to_string())?;
        map.serialize_entry("asked_ms", &self.asked_ms)?;
        map.serialize_entry("expires_ms", &self.expires_ms)?;
        map.end()
    }
}
