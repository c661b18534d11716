//! The form in which a client asks a person: an object of texts, numbers, choices, and yes or no.

use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema, PrimitiveSchemaDefinition};
use serde_json::{Map, Value, json};

use crate::served::AnswerBody;

/// The form for the answer to something that a thread waits for.
pub(super) struct AnswerForm {
    pub(super) schema: ElicitationSchema,
    /// Whether the fields of the form are those of the answer itself, and not of the body with it.
    is_answer: bool,
}

impl AnswerForm {
    /// The form for something that a thread waits for. `None` if its answer has more than such a form can have.
    pub(super) fn of(wait: &Value) -> Option<Self> {
        let body = &wait["schema"];
        let (schema, is_answer) = match flat(body) {
            Some(schema) => (schema, false),
            None => (flat(&body["properties"]["answer"])?, true),
        };
        let schema = serde_json::from_value(schema).ok()?;
        Some(AnswerForm { schema, is_answer })
    }

    /// The body of the answer. `None` if the person has not answered.
    pub(super) fn read(&self, answer: ElicitResult) -> Option<AnswerBody> {
        if answer.action != ElicitationAction::Accept {
            return None;
        }
        let content = match answer.content {
            Some(Value::Object(content)) => content,
            _ => Map::new(),
        };
        let body = if self.is_answer {
            Map::from_iter([("answer".to_string(), Value::Object(content))])
        } else {
            content
        };
        Some(AnswerBody::from(body))
    }
}

/// The schema of a form. Optional fields that no form has are left out.
fn flat(schema: &Value) -> Option<Value> {
    let fields = schema["properties"].as_object()?;
    let required = schema["required"].as_array();
    let is_required = |name: &String| required.is_some_and(|it| it.iter().any(|it| it == name));
    let mut properties = Map::new();
    for (name, field) in fields {
        match primitive(field) {
            Some(field) => {
                properties.insert(name.clone(), field);
            }
            None if is_required(name) => return None,
            None => {}
        }
    }
    // A form without fields would ask nothing.
    if properties.is_empty() {
        return None;
    }
    let required = required.cloned().unwrap_or_default();
    Some(json!({ "type": "object", "properties": properties, "required": required }))
}

/// The formats of texts that the protocol has.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The schema of a field, as the protocol has it. `None` if it is not a text, a number, a choice, or yes or no.
fn primitive(schema: &Value) -> Option<Value> {
    let mut field = schema.as_object()?.clone();
    let choices = field.get("enum").and_then(Value::as_array);
    if choices.is_some_and(|choices| choices.iter().all(Value::is_string)) {
        field.entry("type").or_insert_with(|| "string".into());
    }
    if let Some(Value::Array(types)) = field.get("type") {
        let mut types = types.iter().filter(|name| *name != "null");
        let only = types.next()?.clone();
        if types.next().is_some() {
            return None;
        }
        field.insert("type".into(), only);
    }
    if field.get("default").is_some_and(Value::is_null) {
        field.remove("default");
    }
    let format = field.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !FORMATS.contains(&format)) {
        field.remove("format");
    }
    let field = Value::Object(field);
    let primitive: PrimitiveSchemaDefinition = serde_json::from_value(field).ok()?;
    serde_json::to_value(primitive).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(schema: Value) -> Option<(Value, bool)> {
        let form = AnswerForm::of(&json!({ "schema": schema }))?;
        let schema = serde_json::to_value(&form.schema).expect("it is JSON");
        Some((schema["properties"].clone(), form.is_answer))
    }

    fn question(answer: Value) -> Value {
        json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] })
    }

    fn accepted(form: &AnswerForm, content: Value) -> Value {
        let answer = json!({ "action": "accept", "content": content });
        let answer = serde_json::from_value(answer).expect("it is an answer");
        form.read(answer).expect("it is accepted").into_value()
    }

    #[test]
    fn plain_answers_have_forms() {
        let yes = json!({ "answer": { "type": "boolean" } });
        assert_eq!(
            form(question(json!({ "type": "boolean" }))),
            Some((yes, false))
        );
        let (number, _) = form(question(
            json!({ "type": "integer", "format": "uint8", "minimum": 0 }),
        ))
        .expect("it is a number");
        assert_eq!(number["answer"]["type"], "integer");
        assert_eq!(number["answer"]["minimum"], 0);
        let (choice, _) = form(json!({
            "properties": { "decision": { "enum": ["approve", "reject"] }, "reason": { "type": ["string", "null"] } },
            "required": ["decision"],
        }))
        .expect("it is a choice");
        assert_eq!(choice["decision"]["enum"], json!(["approve", "reject"]));
        assert_eq!(choice["reason"]["type"], "string");
    }

    #[test]
    fn the_fields_of_an_answer_are_those_of_its_form() {
        let answer = json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "tags": { "type": "array" } },
            "required": ["title"],
        });
        let wait = json!({ "schema": question(answer) });
        let form = AnswerForm::of(&wait).expect("a form");
        let body = accepted(&form, json!({ "title": "Emma" }));
        assert_eq!(body, json!({ "answer": { "title": "Emma" } }));
    }

    #[test]
    fn other_answers_have_none() {
        for schema in [
            question(json!({})),
            question(json!({ "type": "array" })),
            question(json!({ "type": ["string", "integer"] })),
            json!({ "properties": { "credential": {} }, "required": ["credential"] }),
            json!({}),
        ] {
            assert_eq!(form(schema.clone()), None, "{schema}");
        }
    }

    #[test]
    fn only_what_is_accepted_is_an_answer() {
        let wait = json!({ "schema": question(json!({ "type": "boolean" })) });
        let form = AnswerForm::of(&wait).expect("a form");
        assert_eq!(
            accepted(&form, json!({ "answer": false })),
            json!({ "answer": false })
        );
        for action in ["decline", "cancel"] {
            let answer = json!({ "action": action, "content": { "answer": true } });
            let answer = serde_json::from_value(answer).expect("it is an answer");
            assert!(form.read(answer).is_none(), "{action}");
        }
    }
}
