//! The body of a request.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::document::{Document, read};
use super::parameter::is_json;
use super::schema::Schemas;
use super::style::{self, Form, Style};

/// What is sent as the body.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) argument: String,
    pub(super) content_type: String,
    pub(super) kind: BodyKind,
}

#[derive(Clone, Debug)]
pub(super) enum BodyKind {
    Json,
    /// A form, with the fields that are not written as usual.
    Form(BTreeMap<String, Form>),
    Text,
}

/// A body with the schema of its argument.
pub(super) struct Described {
    pub(super) content_type: String,
    pub(super) kind: BodyKind,
    pub(super) schema: Value,
    pub(super) required: bool,
}

/// How a field of a form is written.
#[derive(Debug, Deserialize)]
struct Encoding {
    style: Option<Style>,
    explode: Option<bool>,
}

/// Reads the body of an operation, in the first form that can be sent: JSON, a form, or a text.
pub(super) fn read_body<'d>(
    document: &'d Document,
    operation: &'d Value,
    schemas: &mut Schemas<'d>,
) -> Result<Option<Described>, String> {
    let Some(body) = operation.get("requestBody") else {
        return Ok(None);
    };
    let body = document.resolve(body)?;
    let Some(content) = body.get("content").and_then(Value::as_object) else {
        return Err("its `requestBody` has no `content`: say in which form it is sent".into());
    };
    let rank = |kind: &str| match kind {
        "application/json" => Some(0),
        kind if is_json(kind) => Some(1),
        "*/*" | "application/*" => Some(2),
        kind if essence(kind) == FORM => Some(3),
        kind if essence(kind).starts_with("text/") => Some(4),
        _ => None,
    };
    let best = content
        .iter()
        .filter_map(|(kind, media)| Some((rank(kind)?, kind, media)));
    let Some((_, kind, media)) = best.min_by_key(|(rank, ..)| *rank) else {
        let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
        return Err(format!(
            "its body is `{}`, and JSON, forms and texts can be sent: leave it out",
            kinds.join("`, `")
        ));
    };
    let schema = media.get("schema").map(|schema| schemas.convert(schema));
    let schema = schema
        .transpose()
        .map_err(|problem| format!("its body: {problem}"))?;
    let mut schema = schema.unwrap_or_else(|| Map::new().into());
    if let (Value::Object(schema), Some(text)) = (&mut schema, body["description"].as_str()) {
        schema.insert("description".into(), text.into());
    }
    let (content_type, body_kind) = match essence(kind) {
        FORM => (FORM, BodyKind::Form(encodings(media)?)),
        text if text.starts_with("text/") && !is_json(text) => (kind.as_str(), BodyKind::Text),
        json if is_json(json) => (kind.as_str(), BodyKind::Json),
        _ => ("application/json", BodyKind::Json),
    };
    Ok(Some(Described {
        content_type: content_type.into(),
        kind: body_kind,
        schema,
        required: body["required"] == true,
    }))
}

const FORM: &str = "application/x-www-form-urlencoded";

fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

fn encodings(media: &Value) -> Result<BTreeMap<String, Form>, String> {
    let encodings = media.get("encoding").and_then(Value::as_object);
    let encodings = encodings.into_iter().flatten().map(|(name, value)| {
        let encoding: Encoding = read(value, &format!("the encoding of `{name}`"))?;
        let style = encoding.style.unwrap_or(Style::Form);
        let form = Form {
            style,
            explode: encoding.explode.unwrap_or(style == Style::Form),
            allow_reserved: false,
        };
        Ok((name.clone(), form))
    });
    encodings.collect()
}

impl Body {
    /// The bytes of the body.
    pub(super) fn write(&self, value: &Value) -> String {
        match &self.kind {
            BodyKind::Json => value.to_string(),
            BodyKind::Text => style::text(value),
            BodyKind::Form(forms) => {
                let usual = Form {
                    style: Style::Form,
                    explode: true,
                    allow_reserved: false,
                };
                let fields = value.as_object().into_iter().flatten();
                let pairs = fields.flat_map(|(name, value)| {
                    let form = forms.get(name).copied().unwrap_or(match value {
                        // Its fields would be those of the form itself.
                        Value::Object(_) => Form {
                            style: Style::DeepObject,
                            ..usual
                        },
                        _ => usual,
                    });
                    style::pairs(name, form, value)
                });
                pairs.collect::<Vec<_>>().join("&")
            }
        }
    }
}
