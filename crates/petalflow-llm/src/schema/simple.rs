//! A simplified schema, from which the dialects are generated.

use serde_json::{Map, Value};

/// The maximum number of parts and of nested references. A recursive schema has no end, and a schema of another party
/// may be malicious.
const MOST_PARTS: usize = 10_000;
const DEEPEST: usize = 32;

/// The keywords of a simplified schema. `anyOf` replaces `oneOf`, `enum` replaces `const`, and references are resolved.
const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "enum",
    "anyOf",
    "properties",
    // The order of the properties in the text of the request. It is not sent.
    "propertyOrdering",
    "required",
    "additionalProperties",
    "items",
    "format",
    "default",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// A simplified schema.
pub(super) struct Simple {
    pub(super) schema: Map<String, Value>,
    /// Whether something was omitted because it is recursive or has too many parts.
    pub(super) cut: bool,
}

/// Simplifies a schema. Unsupported parts are omitted: the result then accepts more than the schema.
pub(super) fn simple(schema: &Value) -> Simple {
    let mut writer = Writer {
        root: schema,
        references: Vec::new(),
        parts: 0,
        cut: false,
    };
    let schema = writer.write(schema);
    Simple {
        schema,
        cut: writer.cut,
    }
}

struct Writer<'a> {
    root: &'a Value,
    /// The references on the path to the current schema.
    references: Vec<&'a str>,
    parts: usize,
    cut: bool,
}

impl<'a> Writer<'a> {
    fn write(&mut self, schema: &'a Value) -> Map<String, Value> {
        // `true` and values that are not schemas accept anything.
        let Value::Object(schema) = schema else {
            return Map::new();
        };
        self.parts += 1;
        if self.parts > MOST_PARTS {
            self.cut = true;
            return Map::new();
        }
        let mut written = Map::new();
        for (keyword, value) in schema {
            if let Some(value) = self.keyword(keyword, value)
                && KEYWORDS.contains(&keyword.as_str())
            {
                written.insert(keyword.clone(), value);
            }
        }
        if let Some(value) = schema.get("const") {
            written.insert("enum".into(), vec![value.clone()].into());
        }
        if let Some(Value::Object(patterns)) = schema.get("patternProperties")
            && !patterns.is_empty()
        {
            let any = self.any_of(patterns.values());
            written.insert("additionalProperties".into(), any);
        }
        for keyword in ["anyOf", "oneOf"] {
            let ways = list(schema, keyword).iter();
            let ways: Vec<_> = ways.map(|way| Value::Object(self.write(way))).collect();
            if !ways.is_empty() {
                let ways = Map::from_iter([("anyOf".into(), ways.into())]);
                self.merge(&mut written, ways);
            }
        }
        // Keywords beside a reference apply too.
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.follow(reference);
            self.merge(&mut written, target);
        }
        for part in list(schema, "allOf") {
            let part = self.write(part);
            self.merge(&mut written, part);
        }
        let positions = list(schema, "prefixItems");
        if !positions.is_empty() {
            self.tuple(&mut written, positions);
        }
        written
    }

    /// The target of a reference.
    fn follow(&mut self, reference: &'a str) -> Map<String, Value> {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else {
            return Map::new();
        };
        if self.references.contains(&reference)
            || self.references.len() >= DEEPEST
            || reference == "#"
        {
            self.cut = true;
            // The type is still known.
            let kind = target.get("type");
            let kind = kind.and_then(|kind| self.keyword("type", kind));
            return kind.map(|kind| ("type".into(), kind)).into_iter().collect();
        }
        self.references.push(reference);
        let written = self.write(target);
        self.references.pop();
        written
    }

    /// The value of a keyword, if it is supported and well formed.
    fn keyword(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        match keyword {
            "anyOf" => None,
            "type" => match value {
                Value::Array(types) => {
                    let known: Vec<_> = types.iter().filter(|name| is_type(name)).collect();
                    (!known.is_empty()).then(|| known.into_iter().cloned().collect())
                }
                one => is_type(one).then(|| one.clone()),
            },
            "properties" => {
                let properties = value.as_object()?.iter();
                let written = properties
                    .map(|(name, property)| (name.clone(), Value::Object(self.write(property))));
                Some(Value::Object(written.collect()))
            }
            "items" => Some(self.write(value).into()),
            "additionalProperties" => Some(match value {
                Value::Object(_) => self.write(value).into(),
                value => value.clone(),
            }),
            "enum" => value.as_array().map(|values| values.clone().into()),
            "required" => {
                let names = value.as_array()?.iter().filter(|name| name.is_string());
                Some(names.cloned().collect())
            }
            "description" | "format" | "pattern" => value.as_str().map(Into::into),
            _ => Some(value.clone()),
        }
    }

    /// A list with a schema per position: any of these schemas, and as many items.
    fn tuple(&mut self, written: &mut Map<String, Value>, positions: &'a [Value]) {
        let items = self.any_of(positions.iter());
        written.insert("items".into(), items);
    }

    /// A schema that accepts what any of these accepts.
    fn any_of(&mut self, schemas: impl Iterator<Item = &'a Value>) -> Value {
        let mut ways: Vec<Value> = Vec::new();
        for schema in schemas {
            let way = Value::Object(self.write(schema));
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        match ways.len() {
            1 => ways.remove(0),
            _ => Map::from_iter([("anyOf".into(), ways.into())]).into(),
        }
    }

    /// The conjunction of both schemas, as far as it can be expressed: properties and requirements are merged, and
    /// alternatives combined; of other keywords the first one is used.
    fn merge(&mut self, into: &mut Map<String, Value>, other: Map<String, Value>) {
        for (keyword, value) in other {
            match (into.get_mut(&keyword), value) {
                (Some(Value::Object(known)), Value::Object(value)) if keyword == "properties" => {
                    for (name, property) in value {
                        known.entry(name).or_insert(property);
                    }
                }
                (Some(Value::Array(known)), Value::Array(value)) if keyword == "required" => {
                    let new: Vec<_> = value
                        .into_iter()
                        .filter(|name| !known.contains(name))
                        .collect();
                    known.extend(new);
                }
                (Some(Value::Array(known)), Value::Array(value)) if keyword == "anyOf" => {
                    *known = self.product(known, &value);
                }
                (Some(_), _) => {}
                (None, value) => {
                    into.insert(keyword, value);
                }
            }
        }
    }

    /// The alternatives that satisfy one schema of each list.
    fn product(&mut self, first: &[Value], second: &[Value]) -> Vec<Value> {
        self.parts += first.len().saturating_mul(second.len());
        if self.parts > MOST_PARTS {
            self.cut = true;
            return first.to_vec();
        }
        let mut all = Vec::with_capacity(first.len() * second.len());
        for one in first {
            for other in second {
                if let (Value::Object(one), Value::Object(other)) = (one, other) {
                    let mut both = one.clone();
                    self.merge(&mut both, other.clone());
                    all.push(both.into());
                }
            }
        }
        all
    }
}

fn is_type(name: &Value) -> bool {
    const TYPES: &[&str] = &[
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    name.as_str().is_some_and(|name| TYPES.contains(&name))
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    let list = schema.get(keyword).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The types in a simplified schema.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<String> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(types)) => types
            .iter()
            .filter_map(Value::as_str)
            .map(Into::into)
            .collect(),
        _ => Vec::new(),
    }
}
