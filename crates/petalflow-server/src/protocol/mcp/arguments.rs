//! The arguments of the tool of a flow.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::served::{Facts, FlowKind, unfit};

/// How the arguments of a tool become the input of its flow. The protocol has objects only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    /// They are the input.
    Input,
    /// The input is not an object: it is the argument `input`.
    Wrapped,
    /// What a person says, and the thread to continue.
    Said { is_required: bool },
}

/// A call of a tool, as its flow reads it.
#[derive(Debug, PartialEq)]
pub(super) struct Read {
    pub(super) input: Value,
    /// The thread of which the call is a further turn.
    pub(super) thread: Option<String>,
}

impl Arguments {
    pub(super) fn of(facts: &Facts) -> Self {
        match (facts.kind, &facts.input) {
            (FlowKind::Agent, _) => Arguments::Said { is_required: true },
            (FlowKind::Conversation, _) => Arguments::Said { is_required: false },
            (_, Some(schema)) if !is_of_objects(schema) => Arguments::Wrapped,
            _ => Arguments::Input,
        }
    }

    /// The JSON Schema of the arguments.
    pub(super) fn schema(self, facts: &Facts) -> Value {
        match self {
            Arguments::Input => {
                let mut schema = facts.input.clone().unwrap_or_else(|| json!({}));
                schema["type"] = "object".into();
                schema
            }
            Arguments::Wrapped => {
                let mut input = facts.input.clone().unwrap_or_default();
                let definitions = take_definitions(&mut input);
                let mut schema = json!({
                    "type": "object",
                    "properties": { "input": input },
                    "required": ["input"],
                });
                put_definitions(&mut schema, definitions);
                schema
            }
            Arguments::Said { is_required } => json!({
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "What the user says." },
                    "thread": {
                        "type": "string",
                        "description": "The id of the thread to continue, from an earlier result. Without it, a new one begins.",
                    },
                },
                "required": if is_required { json!(["text"]) } else { json!([]) },
                "additionalProperties": false,
            }),
        }
    }

    /// Reads the arguments of a call.
    pub(super) fn read(self, mut arguments: JsonObject) -> Result<Read, Refusal> {
        let input = match self {
            Arguments::Input => Value::Object(arguments),
            Arguments::Wrapped => arguments
                .remove("input")
                .ok_or_else(|| unfit("the argument `input` is missing"))?,
            Arguments::Said { is_required } => return said(arguments, is_required),
        };
        Ok(Read {
            input,
            thread: None,
        })
    }
}

fn said(mut arguments: JsonObject, is_required: bool) -> Result<Read, Refusal> {
    let mut text = |name: &str| match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(unfit(format!("the argument `{name}` is no text"))),
    };
    let (said, thread) = (text("text")?, text("thread")?);
    if let Some(name) = arguments.keys().next() {
        let text = format!("there is no argument `{name}`; the arguments are `text` and `thread`");
        return Err(unfit(text));
    }
    if said.is_none() && is_required {
        return Err(unfit("the argument `text` is missing: what the user says"));
    }
    Ok(Read {
        input: said.into(),
        thread,
    })
}

/// Whether all values of a schema are objects.
fn is_of_objects(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(name) => name == "object",
        Value::Null => schema.get("properties").is_some(),
        _ => false,
    }
}

/// Takes the definitions of a schema, to which it refers from its root.
pub(super) fn take_definitions(schema: &mut Value) -> Option<Value> {
    schema.as_object_mut()?.remove("$defs")
}

/// Puts definitions at the root of a schema.
pub(super) fn put_definitions(schema: &mut Value, definitions: Option<Value>) {
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> JsonObject {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn only_schemas_of_objects_are_those_of_arguments() {
        for (schema, expected) in [
            (json!({ "type": "object" }), true),
            (json!({ "properties": {} }), true),
            (json!({ "type": "string" }), false),
            (json!({ "type": ["object", "null"] }), false),
            (json!({ "anyOf": [] }), false),
        ] {
            assert_eq!(is_of_objects(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn each_mistake_of_what_is_said_names_the_argument() {
        let said = Arguments::Said { is_required: true };
        let read = said.read(object(json!({ "text": "hi", "thread": "a:1" })));
        let expected = Read {
            input: "hi".into(),
            thread: Some("a:1".into()),
        };
        assert_eq!(read.expect("it fits"), expected);
        for (arguments, problem) in [
            (
                json!({}),
                "the argument `text` is missing: what the user says",
            ),
            (json!({ "text": 7 }), "the argument `text` is no text"),
            (
                json!({ "text": "hi", "txt": "" }),
                "there is no argument `txt`; the arguments are `text` and `thread`",
            ),
        ] {
            let refused = said.read(object(arguments)).expect_err("it is wrong");
            assert_eq!(refused.text(), problem);
        }
        let silent = Arguments::Said { is_required: false };
        let read = silent.read(JsonObject::new()).expect("it may be missing");
        assert_eq!(read.input, Value::Null);
        let missing = Arguments::Wrapped.read(JsonObject::new());
        let missing = missing.expect_err("it is missing");
        assert_eq!(missing.text(), "the argument `input` is missing");
    }

    #[test]
    fn definitions_stay_at_the_root() {
        let mut schema = json!({ "$ref": "#/$defs/Tree", "$defs": { "Tree": {} } });
        let definitions = take_definitions(&mut schema);
        let mut outer = json!({ "properties": { "input": schema } });
        put_definitions(&mut outer, definitions);
        let expected = json!({ "properties": { "input": { "$ref": "#/$defs/Tree" } }, "$defs": { "Tree": {} } });
        assert_eq!(outer, expected);
    }
}
