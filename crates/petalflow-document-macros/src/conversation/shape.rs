//! Types of arguments and results, before they have names.

use petalflow_document_model::conversations::decision::{Operator, Value as Literal};
use petalflow_document_model::conversations::{Decision, Function, Next, Parameters};
use serde_json::{Map, Value};

/// The type of an argument.
#[derive(Debug, PartialEq)]
pub(crate) enum Type {
    Text,
    Integer,
    Number,
    Bool,
    Object,
    Any,
    List(Box<Type>),
    Optional(Box<Type>),
    Struct(Vec<Field>),
    Choice(Vec<String>),
}

/// A property of an object.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name in the document.
    pub(crate) key: String,
    pub(crate) doc: Option<String>,
    pub(crate) ty: Type,
}

/// Descriptions have no influence on the type.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.ty == other.ty
    }
}

/// What a function returns.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Anything: it chooses nothing.
    Any,
    /// An object with a field that chooses the next node.
    Branch { field: String, choice: Choice },
    /// A value that conditions compare.
    Decision(Choice),
}

/// A value that chooses the next node.
#[derive(Debug, PartialEq)]
pub(crate) enum Choice {
    Bool,
    Number,
    Any,
    /// One of these words, or something else.
    Words(Vec<String>),
}

/// The properties of an object.
pub(crate) fn fields(parameters: &Parameters) -> Vec<Field> {
    let properties = parameters.properties.iter();
    properties
        .map(|(key, schema)| field(key, schema, parameters.required.contains(key)))
        .collect()
}

fn field(key: &str, schema: &Map<String, Value>, is_required: bool) -> Field {
    let ty = of_schema(schema);
    Field {
        key: key.into(),
        doc: schema
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        ty: match ty {
            ty @ Type::Optional(_) => ty,
            ty if is_required => ty,
            ty => Type::Optional(Box::new(ty)),
        },
    }
}

fn of_schema(schema: &Map<String, Value>) -> Type {
    let mut kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let count = kinds.len();
    kinds.retain(|kind| *kind != "null");
    let is_optional = kinds.len() < count;
    let ty = match kinds.as_slice() {
        [kind] => of_kind(kind, schema),
        [] => choice(schema)
            .or_else(|| nullable(schema))
            .unwrap_or(Type::Any),
        _ => Type::Any,
    };
    match ty {
        Type::Any => Type::Any,
        ty if is_optional => Type::Optional(Box::new(ty)),
        ty => ty,
    }
}

/// A type or `null`, as `anyOf` says it.
fn nullable(schema: &Map<String, Value>) -> Option<Type> {
    let schemas = schema.get("anyOf").or_else(|| schema.get("oneOf"))?;
    let is_null = |it: &Value| it.get("type").is_some_and(|it| it == "null");
    let (nulls, others): (Vec<_>, Vec<_>) = schemas.as_array()?.iter().partition(|it| is_null(it));
    match (nulls.as_slice(), others.as_slice()) {
        ([_], [Value::Object(only)]) => Some(match of_schema(only) {
            ty @ (Type::Any | Type::Optional(_)) => ty,
            ty => Type::Optional(Box::new(ty)),
        }),
        _ => None,
    }
}

fn of_kind(kind: &str, schema: &Map<String, Value>) -> Type {
    match kind {
        "string" if schema.contains_key("enum") => choice(schema).unwrap_or(Type::Any),
        "string" => Type::Text,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Bool,
        "array" => {
            let items = schema.get("items").and_then(Value::as_object);
            Type::List(Box::new(items.map_or(Type::Any, of_schema)))
        }
        "object" => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let Some(properties) = properties.filter(|it| !it.is_empty()) else {
                return Type::Object;
            };
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |key: &str| required.is_some_and(|it| it.iter().any(|name| name == key));
            let fields = properties.iter().map(|(key, schema)| {
                let empty = Map::new();
                field(key, schema.as_object().unwrap_or(&empty), is_required(key))
            });
            Type::Struct(fields.collect())
        }
        _ => Type::Any,
    }
}

/// One of several texts.
fn choice(schema: &Map<String, Value>) -> Option<Type> {
    let values = schema.get("enum")?.as_array()?;
    let words: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    Some(Type::Choice(distinct(words.filter(|it| !it.is_empty())?)))
}

fn distinct<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let words = words.into_iter().filter(|word| seen.insert(*word));
    words.map(str::to_owned).collect()
}

/// What a function returns.
pub(crate) fn outcome(function: &Function) -> Outcome {
    match &function.next {
        Next::Stay | Next::Node(_) => Outcome::Any,
        Next::Branch(branch) => {
            let is_bool = |case: &String| {
                case.eq_ignore_ascii_case("true") || case.eq_ignore_ascii_case("false")
            };
            Outcome::Branch {
                field: branch.field.clone(),
                choice: if branch.cases.keys().all(is_bool) {
                    Choice::Bool
                } else {
                    Choice::Words(branch.cases.keys().cloned().collect())
                },
            }
        }
        Next::Decision(decision) => Outcome::Decision(compared(decision)),
    }
}

/// The type that all conditions compare with.
fn compared(decision: &Decision) -> Choice {
    let mut literals = Vec::new();
    for condition in &decision.conditions {
        if condition.operator == Operator::Not {
            literals.push(Literal::Bool(false));
            continue;
        }
        let is_membership = matches!(condition.operator, Operator::In | Operator::NotIn);
        match condition.value.parse() {
            Ok(Literal::List(items) | Literal::Tuple(items) | Literal::Set(items))
                if is_membership =>
            {
                literals.extend(items);
            }
            Ok(literal) if !is_membership => literals.push(literal),
            _ => return Choice::Any,
        }
    }
    let words: Option<Vec<&str>> = literals
        .iter()
        .map(|it| match it {
            Literal::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let is_equality = |operator| {
        use Operator::{Equal, In, NotEqual, NotIn};
        matches!(operator, Equal | NotEqual | In | NotIn)
    };
    let by_equality = decision
        .conditions
        .iter()
        .all(|it| is_equality(it.operator));
    let is_number = |it: &Literal| matches!(it, Literal::Int(_) | Literal::Float(_));
    match words {
        _ if literals.is_empty() => Choice::Any,
        Some(words) if by_equality => Choice::Words(distinct(words)),
        _ if literals.iter().all(|it| matches!(it, Literal::Bool(_))) => Choice::Bool,
        _ if literals.iter().all(is_number) => Choice::Number,
        _ => Choice::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::{Type, fields};
    use petalflow_document_model::conversations::Parameters;
    use serde_json::json;

    #[test]
    fn a_type_or_null_is_optional() {
        let text = json!({ "type": "string" });
        let none = json!({ "type": "null" });
        for (schema, expected) in [
            (
                json!({ "anyOf": [text, none] }),
                Type::Optional(Box::new(Type::Text)),
            ),
            (
                json!({ "oneOf": [none, text] }),
                Type::Optional(Box::new(Type::Text)),
            ),
            (
                json!({ "type": ["string", "null"] }),
                Type::Optional(Box::new(Type::Text)),
            ),
            (
                json!({ "anyOf": [text, { "type": "integer" }, none] }),
                Type::Any,
            ),
            (json!({ "anyOf": [text] }), Type::Any),
        ] {
            let parameters = json!({ "properties": { "a": schema }, "required": ["a"] });
            let fields = fields(&Parameters::of_schema(&parameters));
            assert_eq!(fields[0].ty, expected, "{schema}");
        }
    }
}
