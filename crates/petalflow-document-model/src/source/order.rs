//! The order in which names stand in a text.
//!
//! JSON values here sort the names of objects. Types that keep an order, such as `IndexMap`, are read with this one.

use std::collections::HashSet;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

use crate::source::tree::{Entry, Node, Tree, repeats};

/// The order of the names in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'t>(Option<&'t Tree<'t>>);

impl<'t> Order<'t> {
    pub(crate) fn of(tree: &'t Tree<'t>) -> Self {
        Order(Some(tree))
    }

    /// Reads a type from a value of the text, with the names of objects in their order in the text. Names that the text
    /// does not have come last.
    pub(crate) fn read<T: DeserializeOwned>(self, value: &Value) -> Result<T, Error> {
        T::deserialize(Ordered { value, order: self })
    }

    fn item(self, index: usize) -> Self {
        Order(match self.0.map(|tree| &tree.node) {
            Some(Node::List(items)) => items.get(index),
            _ => None,
        })
    }

    fn entries(self) -> &'t [Entry<'t>] {
        match self.0.map(|tree| &tree.node) {
            Some(Node::Object(entries)) => entries,
            _ => &[],
        }
    }
}

struct Ordered<'v> {
    value: &'v Value,
    order: Order<'v>,
}

impl<'de> IntoDeserializer<'de, Error> for Ordered<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Ordered<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(object) => {
                let entries = self.order.entries();
                let mut known = HashSet::new();
                let repeats = repeats(entries);
                let mut fields = Vec::with_capacity(object.len());
                for entry in entries {
                    if repeats && !known.insert(&entry.name) {
                        continue;
                    }
                    if let Some((name, value)) = object.get_key_value(entry.name.as_ref()) {
                        let order = Order(Some(&entry.value));
                        fields.push((name.as_str(), Ordered { value, order }));
                    }
                }
                if fields.len() < object.len() {
                    let known: HashSet<&str> = fields.iter().map(|(name, _)| *name).collect();
                    for (name, value) in object {
                        if !known.contains(name.as_str()) {
                            let order = Order(None);
                            fields.push((name.as_str(), Ordered { value, order }));
                        }
                    }
                }
                let mut fields = MapDeserializer::new(fields.into_iter());
                let read = visitor.visit_map(&mut fields)?;
                fields.end()?;
                Ok(read)
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(index, value)| Ordered {
                    value,
                    order: self.order.item(index),
                });
                let mut items = SeqDeserializer::new(items);
                let read = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(read)
            }
            value => value.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
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

    /// Fields of variants are in the order of the value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
