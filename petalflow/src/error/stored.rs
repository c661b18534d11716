//! How a [`NodeError`] is stored: as a map of its fields.
//!
//! By hand, because these two types would be the only reason for the default build to compile serde's derive.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{FailureKind, NodeError};

const KINDS: [(FailureKind, &str); 4] = [
    (FailureKind::Error, "error"),
    (FailureKind::Panic, "panic"),
    (FailureKind::Timeout, "timeout"),
    (FailureKind::Idle, "idle"),
];

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = KINDS
            .iter()
            .find(|(kind, _)| kind == self)
            .map_or("error", |(_, name)| name);
        serializer.serialize_str(name)
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = KINDS.iter().find(|(_, known)| *known == name);
        known.map(|(kind, _)| *kind).ok_or_else(|| {
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

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = NodeError;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the failure of a node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeError, A::Error> {
        let (mut node, mut namespace, mut superstep, mut attempt, mut index, mut kind, mut message) =
            (None, None, None, None, None, None, None);
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "node" => node = Some(map.next_value()?),
                "namespace" => namespace = Some(map.next_value()?),
                "superstep" => superstep = Some(map.next_value()?),
                "attempt" => attempt = Some(map.next_value()?),
                "index" => index = map.next_value()?,
                "kind" => kind = Some(map.next_value()?),
                "message" => message = Some(map.next_value()?),
                // A later version may have more to say.
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = de::Error::missing_field;
        Ok(NodeError {
            node: node.ok_or_else(|| missing("node"))?,
            namespace: namespace.ok_or_else(|| missing("namespace"))?,
            superstep: superstep.ok_or_else(|| missing("superstep"))?,
            attempt: attempt.ok_or_else(|| missing("attempt"))?,
            index,
            kind: kind.ok_or_else(|| missing("kind"))?,
            message: message.ok_or_else(|| missing("message"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Namespace;

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
