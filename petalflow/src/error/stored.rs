//! The stored form of a [`NodeError`]: a map of its fields.
//!
//! Written by hand: with serde's derive, these two types would be the only reason to compile it in the default build.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_core::ser::{Serialize, SerializeMap, Serializer};

use petalflow_store::codec::{CodecError, Unpack, decode, encode};

use super::{FailureKind, NodeError};

const KINDS: [&str; 4] = ["error", "panic", "timeout", "idle"];

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(KINDS[*self as usize])
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "error" => Ok(FailureKind::Error),
            "panic" => Ok(FailureKind::Panic),
            "timeout" => Ok(FailureKind::Timeout),
            "idle" => Ok(FailureKind::Idle),
            name => Err(D::Error::unknown_variant(name, &KINDS)),
        }
    }
}

impl Serialize for NodeError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(7))?;
        map.serialize_entry("node", &self.node)?;
        map.serialize_entry("namespace", &self.namespace)?;
        map.serialize_entry("superstep", &self.superstep)?;
        map.serialize_entry("attempt", &self.attempt)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for NodeError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

impl NodeError {
    /// Encodes it for a checkpoint.
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        encode(self, out).expect("texts and numbers can be encoded");
    }

    /// Decodes it from a checkpoint.
    pub(crate) fn unpack(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        decode(from.value()?)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = NodeError;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the failure of a node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeError, A::Error> {
        let (mut node, mut namespace, mut message) = (None, None, None);
        let (mut superstep, mut attempt, mut index, mut kind) = (None, None, None, None);
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "node" => node = Some(map.next_value()?),
                "namespace" => namespace = Some(map.next_value()?),
                "superstep" => superstep = Some(map.next_value()?),
                "attempt" => attempt = Some(map.next_value()?),
                "index" => index = map.next_value()?,
                "kind" => kind = Some(map.next_value()?),
                "message" => message = Some(map.next_value()?),
                // Fields of later versions are skipped.
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
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
