//! A schema in a form that tells quickly whether nothing is wrong with a value.

use std::collections::HashMap;

use serde_json::{Number, Value};

use crate::source::keywords::{
    allowed, integer_limits, min_length, required, resolve, tag, types, variants,
};
use crate::source::tree::{Entry, Node, Tree};

/// The shapes of a schema and of all schemas inside it. The first is that of the whole schema.
#[derive(Debug)]
pub(crate) struct Shapes(Vec<Shape>);

/// The index of a shape.
type Id = usize;

/// What a value must be.
#[derive(Debug)]
enum Shape {
    /// One of these values.
    Choice(Vec<Value>),
    /// Variants that have different constants in this field.
    Tagged(String, Vec<(Value, Id)>),
    /// Variants without such a field.
    OneOf(Vec<Id>),
    Plain(Plain),
    /// What this module does not know.
    Unclear,
}

#[derive(Debug, Default)]
struct Plain {
    /// Empty: any.
    types: Vec<Type>,
    limits: (Option<f64>, Option<f64>),
    min_items: u64,
    items: Option<Id>,
    min_properties: u64,
    /// By length and name.
    properties: Vec<Property>,
    /// How many of them every object has.
    required: usize,
    others: Others,
}

#[derive(Debug)]
struct Property {
    name: String,
    shape: Id,
    is_required: bool,
    /// Whether an empty text is wrong.
    is_filled: bool,
}

#[derive(Debug, Default)]
enum Others {
    #[default]
    Anything,
    Nothing,
    Each(Id),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Null,
    Boolean,
    String,
    Number,
    Integer,
    Array,
    Object,
}

impl Type {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "string" => Type::String,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "array" => Type::Array,
            "object" => Type::Object,
            _ => return None,
        })
    }

    fn has(self, node: &Node<'_>) -> bool {
        match (self, node) {
            (Type::Null, Node::Null)
            | (Type::Boolean, Node::Bool(_))
            | (Type::String, Node::String(_))
            | (Type::Number, Node::Number(_))
            | (Type::Array, Node::List(_))
            | (Type::Object, Node::Object(_)) => true,
            // The check of the schema makes `5` of `5.0`.
            (Type::Integer, Node::Number(number)) => !number.is_f64(),
            _ => false,
        }
    }
}

impl Shapes {
    pub(crate) fn new(schema: &Value) -> Self {
        let mut reader = Reader {
            root: schema,
            known: HashMap::new(),
            shapes: Vec::new(),
        };
        reader.shape(schema);
        Shapes(reader.shapes)
    }

    /// Whether `schema::check` finds nothing wrong with a value, and returns it unchanged. `false` also
    /// where this is unclear. The value has no name twice.
    pub(crate) fn fit(&self, tree: &Tree<'_>) -> bool {
        self.fits(0, &tree.node)
    }

    fn fits(&self, shape: Id, node: &Node<'_>) -> bool {
        match &self.0[shape] {
            Shape::Plain(plain) => self.fits_plain(plain, node),
            Shape::Choice(choices) => choices.iter().any(|choice| is(node, choice)),
            Shape::Tagged(tag, variants) => {
                let Node::Object(entries) = node else {
                    return false;
                };
                let value = entries.iter().find(|entry| entry.name == *tag);
                let value = value.map(|entry| &entry.value.node);
                let chosen = value.and_then(|value| {
                    let mut variants = variants.iter();
                    variants.find(|(constant, _)| is(value, constant))
                });
                chosen.is_some_and(|(_, variant)| self.fits(*variant, node))
            }
            // Of several variants that have the type, the check prefers the first that fits.
            Shape::OneOf(variants) => variants
                .iter()
                .find(|variant| self.may_fit(**variant, node))
                .is_some_and(|variant| self.fits(*variant, node)),
            Shape::Unclear => false,
        }
    }

    /// Whether the type is right.
    fn may_fit(&self, shape: Id, node: &Node<'_>) -> bool {
        match &self.0[shape] {
            Shape::Plain(plain) => {
                let is_number = matches!(node, Node::Number(_));
                plain.types.is_empty()
                    || plain.types.iter().any(|it| it.has(node))
                    || is_number && plain.types.contains(&Type::Integer)
            }
            Shape::Choice(choices) => choices.iter().any(|choice| is(node, choice)),
            _ => true,
        }
    }

    fn fits_plain(&self, plain: &Plain, node: &Node<'_>) -> bool {
        if !plain.types.is_empty() && !plain.types.iter().any(|it| it.has(node)) {
            return false;
        }
        match node {
            Node::Object(entries) => self.fits_object(plain, entries),
            Node::List(items) => {
                is_long(items.len(), plain.min_items)
                    && plain
                        .items
                        .is_none_or(|shape| items.iter().all(|item| self.fits(shape, &item.node)))
            }
            Node::Number(number) => is_between(number, plain.limits),
            _ => true,
        }
    }

    fn fits_object(&self, plain: &Plain, entries: &[Entry<'_>]) -> bool {
        let mut missing = plain.required;
        let fit = entries.iter().all(|entry| {
            let node = &entry.value.node;
            let Some(property) = plain.property(&entry.name) else {
                return match plain.others {
                    Others::Anything => true,
                    Others::Nothing => false,
                    Others::Each(shape) => self.fits(shape, node),
                };
            };
            if property.is_required {
                missing -= 1;
            } else if matches!(node, Node::Null) {
                // The check leaves it out.
                return false;
            }
            let is_empty = || matches!(node, Node::String(text) if text.is_empty());
            !(property.is_filled && is_empty()) && self.fits(property.shape, node)
        });
        fit && missing == 0 && is_long(entries.len(), plain.min_properties)
    }
}

impl Plain {
    fn property(&self, name: &str) -> Option<&Property> {
        let order = |it: &Property| {
            it.name
                .len()
                .cmp(&name.len())
                .then_with(|| it.name.as_str().cmp(name))
        };
        let index = self.properties.binary_search_by(order).ok()?;
        Some(&self.properties[index])
    }
}

fn is_long(length: usize, limit: u64) -> bool {
    u64::try_from(length).is_ok_and(|length| length >= limit)
}

fn is_between(number: &Number, (min, max): (Option<f64>, Option<f64>)) -> bool {
    let number = number.as_f64();
    number.is_some_and(|it| min.is_none_or(|min| it >= min) && max.is_none_or(|max| it <= max))
}

/// Whether a value that has no values inside is this one.
fn is(node: &Node<'_>, value: &Value) -> bool {
    match (node, value) {
        (Node::Null, Value::Null) => true,
        (Node::Bool(a), Value::Bool(b)) => a == b,
        (Node::Number(a), Value::Number(b)) => a == b,
        (Node::String(a), Value::String(b)) => a == b,
        _ => false,
    }
}

struct Reader<'s> {
    root: &'s Value,
    /// The shapes of schemas, by their addresses. Schemas may refer to themselves.
    known: HashMap<*const Value, Id>,
    shapes: Vec<Shape>,
}

impl<'s> Reader<'s> {
    fn shape(&mut self, schema: &'s Value) -> Id {
        let schema = resolve(self.root, schema);
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let id = self.shapes.len();
        self.shapes.push(Shape::Unclear);
        self.known.insert(schema, id);
        self.shapes[id] = self.read(schema).unwrap_or(Shape::Unclear);
        id
    }

    fn read(&mut self, schema: &'s Value) -> Option<Shape> {
        if let Some(forms) = variants(schema) {
            return self.read_variants(forms);
        }
        if let Some(allowed) = allowed(schema) {
            return Some(Shape::Choice(allowed.into_iter().cloned().collect()));
        }
        let types: Option<Vec<Type>> = types(schema).into_iter().map(Type::parse).collect();
        let types = types.filter(|it| !it.is_empty() || schema.get("type").is_none());
        let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
        let length = |name: &str| schema.get(name).and_then(Value::as_u64).unwrap_or(0);
        let (min, max) = integer_limits(schema);
        let mut plain = Plain {
            types: types?,
            limits: (limit("minimum").or(min), limit("maximum").or(max)),
            min_items: length("minItems"),
            items: schema.get("items").map(|it| self.shape(it)),
            min_properties: length("minProperties"),
            properties: Vec::new(),
            required: 0,
            others: match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => Others::Nothing,
                Some(other) if other.is_object() => Others::Each(self.shape(other)),
                _ => Others::Anything,
            },
        };
        let required: Vec<&str> = required(schema).collect();
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let is_required = required.contains(&name.as_str());
            plain.properties.push(Property {
                name: name.clone(),
                shape: self.shape(property),
                is_required,
                is_filled: is_required && min_length(resolve(self.root, property)) > 0,
            });
        }
        plain
            .properties
            .sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
        plain.required = plain.properties.iter().filter(|it| it.is_required).count();
        // A required field that the schema does not describe.
        (plain.required == required.len()).then_some(Shape::Plain(plain))
    }

    fn read_variants(&mut self, forms: &'s [Value]) -> Option<Shape> {
        let forms: Vec<&Value> = forms.iter().map(|it| resolve(self.root, it)).collect();
        let ids = forms.iter().map(|it| self.shape(it)).collect();
        let Some(tag) = tag(&forms) else {
            let constants = forms.iter().copied().filter_map(allowed).flatten();
            let constants: Vec<Value> = constants.cloned().collect();
            // As the check has it.
            return Some(if constants.len() >= forms.len() {
                Shape::Choice(constants)
            } else {
                Shape::OneOf(ids)
            });
        };
        if forms
            .iter()
            .any(|it| variants(it).is_some() || allowed(it).is_some())
        {
            return None;
        }
        let constants = forms
            .iter()
            .map(|it| it["properties"][tag]["const"].clone());
        Some(Shape::Tagged(tag.into(), constants.zip(ids).collect()))
    }
}
