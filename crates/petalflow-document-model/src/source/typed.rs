//! Types from trees.

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use crate::source::tree::{Node, Tree};

impl<'de> IntoDeserializer<'de, Error> for &'de Tree<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Tree<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(*value),
            Node::Number(number) => number.deserialize_any(visitor),
            Node::String(text) => visitor.visit_borrowed_str(text),
            Node::List(items) => {
                let mut items = SeqDeserializer::new(items.iter());
                let read = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(read)
            }
            Node::Object(entries) => {
                let entries = entries.iter().map(|entry| {
                    let name = BorrowedStrDeserializer::new(&entry.name);
                    (name, &entry.value)
                });
                let mut entries = MapDeserializer::new(entries);
                let read = visitor.visit_map(&mut entries)?;
                entries.end()?;
                Ok(read)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Variants with fields are left to the slower reader.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.node {
            Node::String(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            _ => Err(Error::custom("a variant with fields")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
