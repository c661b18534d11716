//! The stored form of a [`NodeError`]: a map of its fields.
//!
//! Written by hand: with serde's derive, these two types would be the only reason to compile it in the default build.
//!
//! `#[inline]` defers compilation to the calling crate. Few programs store failures.

use std::fmt;

use serde_core::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_core::ser::{Serialize, SerializeMap, Serializer};

use super::{FailureKind, NodeError};
use petalflow_codec::{CodecError, Unpack, pack};

const KINDS: [(FailureKind, &str); 4] = [
    (FailureKind::Error, "error"),
    (FailureKind::Panic, "panic"),
    (FailureKind::Timeout, "timeout"),
    (FailureKind::Idle, "idle"),
];

impl FailureKind {
    #[inline]
    fn name(self) -> &'static str {
        let mut kinds = KINDS.iter();
        let known = kinds.find(|(kind, _)| *kind == self);
        known.map_or("error", |(_, name)| name)
    }

    #[inline]
    fn named(name: &str) -> Option<Self> {
        let mut kinds = KINDS.iter();
        let known = kinds.find(|(_, known)| *known == name);
        known.map(|(kind, _)| *kind)
    }
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        FailureKind::named(&name).ok_or_else(|| {
            de::Error::unknown_variant(&name, &["error", "panic", "timeout", "idle"])
        })
    }
}

impl Serialize for NodeError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let NodeError {
            node,
            namespace,
            superstep,
            attempt,
            index,
            kind,
            message,
        } = self;
        let mut map = serializer.serialize_map(Some(7))?;
        map.serialize_entry("node", node)?;
        map.serialize_entry("namespace", namespace)?;
        map.serialize_entry("superstep", superstep)?;
        map.serialize_entry("attempt", attempt)?;
        map.serialize_entry("index", index)?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("message", message)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for NodeError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

impl NodeError {
    /// Encodes it for a checkpoint, with the same bytes that serde would write.
    #[inline]
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        let field = |name: &str, out: &mut Vec<u8>| pack::text(name, out);
        pack::map(7, out);
        field("node", out);
        pack::text(&self.node, out);
        field("namespace", out);
        pack::text(&self.namespace, out);
        field("superstep", out);
        pack::number(self.superstep, out);
        field("attempt", out);
        pack::number(self.attempt.into(), out);
        field("index", out);
        pack::option(self.index, out, |index, out| {
            pack::number(index as u64, out);
        });
        field("kind", out);
        pack::text(self.kind.name(), out);
        field("message", out);
        pack::text(&self.message, out);
    }

    /// Decodes it from a checkpoint.
    #[inline]
    pub(crate) fn unpack(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let mut fields = Found::default();
        from.fields(|from, field| {
            match field {
                "node" => fields.node = Some(from.text()?),
                "namespace" => fields.namespace = Some(from.text()?),
                "superstep" => fields.superstep = Some(from.number()?),
                "attempt" => fields.attempt = Some(from.number()?),
                "index" => fields.index = from.option(Unpack::number)?,
                "kind" => {
                    let name = from.str()?;
                    let unknown = || CodecError::Decode(format!("unknown variant `{name}`, expected one of `error`, `panic`, `timeout`, `idle`"));
                    fields.kind = Some(FailureKind::named(name).ok_or_else(unknown)?);
                }
                "message" => fields.message = Some(from.text()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        fields
            .whole()
            .map_err(|field| CodecError::Decode(format!("missing field `{field}`")))
    }
}

/// The fields that were found so far.
#[derive(Default)]
struct Found {
    node: Option<String>,
    namespace: Option<String>,
    superstep: Option<u64>,
    attempt: Option<u32>,
    index: Option<usize>,
    kind: Option<FailureKind>,
    message: Option<String>,
}

impl Found {
    /// The failure, or the name of a missing field.
    #[inline]
    fn whole(self) -> Result<NodeError, &'static str> {
        Ok(NodeError {
            node: self.node.ok_or("node")?,
            namespace: self.namespace.ok_or("namespace")?,
            superstep: self.superstep.ok_or("superstep")?,
            attempt: self.attempt.ok_or("attempt")?,
            index: self.index,
            kind: self.kind.ok_or("kind")?,
            message: self.message.ok_or("message")?,
        })
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = NodeError;

    #[inline]
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the failure of a node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeError, A::Error> {
        let mut found = Found::default();
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "node" => found.node = Some(map.next_value()?),
                "namespace" => found.namespace = Some(map.next_value()?),
                "superstep" => found.superstep = Some(map.next_value()?),
                "attempt" => found.attempt = Some(map.next_value()?),
                "index" => found.index = map.next_value()?,
                "kind" => found.kind = Some(map.next_value()?),
                "message" => found.message = Some(map.next_value()?),
                // Fields of later versions are skipped.
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        found.whole().map_err(de::Error::missing_field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Namespace;
    use petalflow_codec::{decode, encode, unpack};

    #[test]
    fn a_failure_survives_storage() {
        let mut error = NodeError::new(
            "fetch",
            &Namespace::ROOT.child("sub", Some(2)),
            3,
            FailureKind::Timeout,
            "too late".into(),
        );
        error.index = Some(4);
        let (mut by_serde, mut by_hand) = (Vec::new(), Vec::new());
        encode(&error, &mut by_serde).unwrap();
        error.pack(&mut by_hand);
        assert_eq!(by_serde, by_hand);
        assert_eq!(unpack(&by_hand, NodeError::unpack).unwrap(), error);
        assert_eq!(decode::<NodeError>(&by_hand).unwrap(), error);
        let text = serde_json::to_string(&error).unwrap();
        assert_eq!(serde_json::from_str::<NodeError>(&text).unwrap(), error);
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let error = serde_json::from_str::<NodeError>(r#"{"node":"a","more":1}"#)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("missing field `namespace`"), "{error}");
        let error = serde_json::from_str::<FailureKind>(r#""late""#)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("unknown variant `late`"), "{error}");
    }
}
