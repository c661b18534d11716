//! Forms for the answers of questions, of editors that show them.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{ElicitationContentValue, ElicitationSchema};
use serde_json::{Map, Value, json};

use crate::client::field;

/// The only field of a form for an answer that is no object.
const ANSWER: &str = "answer";

/// A form whose fields are the answer, or whose only field is the answer.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) schema: ElicitationSchema,
    is_wrapped: bool,
}

impl Form {
    /// The form for answers with this schema. `None` if they have parts that a form cannot have, such as lists of objects.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let is_wrapped = schema["properties"].is_null();
        let form = if is_wrapped {
            json!({ "type": "object", "properties": { ANSWER: plain(schema)? }, "required": [ANSWER] })
        } else {
            let properties = schema["properties"].as_object()?;
            let fields: Option<Map<String, Value>> = properties
                .iter()
                .map(|(name, field)| Some((name.clone(), plain(field)?)))
                .collect();
            json!({ "type": "object", "properties": fields?, "required": schema["required"] })
        };
        let schema = serde_json::from_value(form).ok()?;
        Some(Form { schema, is_wrapped })
    }

    /// The answer in a form that a person has filled in.
    pub(crate) fn answer(&self, fields: BTreeMap<String, ElicitationContentValue>) -> Value {
        let fields = fields.into_iter();
        let mut fields: Map<String, Value> = fields
            .filter_map(|(name, value)| Some((name, field(value)?)))
            .collect();
        if self.is_wrapped {
            return fields.remove(ANSWER).unwrap_or_default();
        }
        fields.into()
    }
}

/// The schema of a field, if it is a text, a number, or yes or no.
fn plain(schema: &Value) -> Option<Value> {
    let kind = schema["type"].as_str()?;
    if !["string", "number", "integer", "boolean"].contains(&kind) {
        return None;
    }
    let mut field = json!({ "type": kind });
    for name in ["title", "description", "enum"] {
        if let Some(value) = schema.get(name) {
            field[name] = value.clone();
        }
    }
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(schema: &Value, fields: Value) -> Value {
        let form = Form::of(schema).unwrap();
        form.answer(serde_json::from_value(fields).unwrap())
    }

    #[test]
    fn f44_an_answer_is_a_field_or_all_fields() {
        let wrapped = answer(&json!({ "type": "boolean" }), json!({ "answer": true }));
        assert_eq!(wrapped, json!(true));
        let fields = json!({
            "type": "object",
            "properties": { "euros": { "type": "integer", "format": "uint32" }, "to": { "type": "string" } },
            "required": ["euros"],
        });
        let filled = json!({ "euros": 7, "to": "Ann" });
        assert_eq!(answer(&fields, filled.clone()), filled);
    }

    #[test]
    fn f44_a_form_has_no_lists() {
        let list = json!({ "type": "array", "items": { "type": "object" } });
        assert!(Form::of(&list).is_none());
        let nested = json!({ "type": "object", "properties": { "all": list } });
        assert!(Form::of(&nested).is_none());
        assert!(
            Form::of(&json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })).is_none()
        );
    }
}
