//! The body of a request.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::document::{Document, read};
use super::file::{self, FileArgument};
use super::media_type::{self, essence, is_json};
use super::multipart::{self, Part};
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
    /// A form in one line, with the fields that are not written as usual.
    Form(BTreeMap<String, Form>),
    /// A form of parts, with the fields that the document says more about.
    Multipart(BTreeMap<String, Field>),
    Text,
    /// A file without a form.
    File,
}

/// A field of a form of parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// The media types that it can have. None if the document does not say.
    media_types: Vec<String>,
    form: Option<Form>,
    /// Whether its value, or an item of it, can be a file.
    has_file: bool,
}

/// A body with the schema of its argument.
pub(super) struct Described {
    pub(super) content_type: String,
    pub(super) kind: BodyKind,
    pub(super) schema: Value,
    pub(super) required: bool,
}

/// A body as it is sent.
pub(super) struct Payload {
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// How a field of a form is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Encoding {
    #[serde(default)]
    content_type: String,
    style: Option<Style>,
    explode: Option<bool>,
    #[serde(default)]
    headers: Map<String, Value>,
}

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// Reads the body of an operation, in the first form that can be sent: JSON, a form, a form of parts, a text, or a file.
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
    let rank = |kind: &str| match &*essence(kind) {
        "application/json" => Some(0),
        kind if is_json(kind) => Some(1),
        "*/*" | "application/*" => Some(2),
        FORM => Some(3),
        MULTIPART => Some(4),
        kind if kind.starts_with("text/") => Some(5),
        kind if media_type::is_file(kind) => Some(6),
        _ => None,
    };
    let best = content
        .iter()
        .filter_map(|(kind, media)| Some((rank(kind)?, kind, media)));
    let Some((_, kind, media)) = best.min_by_key(|(rank, ..)| *rank) else {
        let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
        return Err(format!(
            "its body is `{}`, and JSON, forms, texts and files can be sent: leave it out",
            kinds.join("`, `")
        ));
    };
    let in_body = |problem| format!("its body: {problem}");
    let described = describe(document, kind, media, schemas).map_err(in_body)?;
    let (content_type, kind, mut schema) = described;
    if let (Value::Object(schema), Some(text)) = (&mut schema, body["description"].as_str()) {
        schema.insert("description".into(), text.into());
    }
    Ok(Some(Described {
        content_type,
        kind,
        schema,
        required: body["required"] == true,
    }))
}

/// The content type, how it is written, and the schema of the argument.
fn describe<'d>(
    document: &'d Document,
    kind: &str,
    media: &'d Value,
    schemas: &mut Schemas<'d>,
) -> Result<(String, BodyKind, Value), String> {
    let schema = media.get("schema");
    let converted = |schemas: &mut Schemas<'d>| match schema {
        Some(schema) => schemas.convert(schema),
        None => Ok(json!({})),
    };
    Ok(match &*essence(kind) {
        FORM => {
            let written = encodings(document, media)?.into_iter().map(|(name, it)| {
                let style = it.style.unwrap_or(Style::Form);
                (name, form(style, it.explode))
            });
            let kind = BodyKind::Form(written.collect());
            (FORM.into(), kind, of_object(converted(schemas)?))
        }
        MULTIPART => {
            let mut fields = fields(document, media)?;
            let uploads = fields.iter().filter(|(_, field)| field.is_upload());
            let uploads = uploads.map(|(name, _)| name.clone()).collect();
            let (schema, with_file) = match schema {
                Some(schema) => schemas.convert_form(schema, uploads)?,
                None => (json!({}), BTreeMap::new()),
            };
            for (name, types) in with_file {
                let field = fields.entry(name).or_default();
                field.has_file = true;
                if field.media_types.is_empty() {
                    field.media_types = types;
                }
            }
            let kind = BodyKind::Multipart(fields);
            (MULTIPART.into(), kind, of_object(schema))
        }
        text if text.starts_with("text/") && !is_json(text) => {
            (kind.into(), BodyKind::Text, converted(schemas)?)
        }
        json if is_json(json) => (kind.into(), BodyKind::Json, converted(schemas)?),
        "*/*" | "application/*" => (
            "application/json".into(),
            BodyKind::Json,
            converted(schemas)?,
        ),
        _ => (kind.into(), BodyKind::File, file::content_schema()),
    })
}

/// The schema, which says that the value is an object if it says nothing.
fn of_object(schema: Value) -> Value {
    match schema {
        Value::Object(fields) if fields.is_empty() => json!({ "type": "object" }),
        schema => schema,
    }
}

fn form(style: Style, explode: Option<bool>) -> Form {
    Form {
        style,
        explode: explode.unwrap_or(style == Style::Form),
        allow_reserved: false,
    }
}

fn encodings(document: &Document, media: &Value) -> Result<Vec<(String, Encoding)>, String> {
    let encodings = media.get("encoding").and_then(Value::as_object);
    let encodings = encodings.into_iter().flatten().map(|(name, value)| {
        let encoding = document.resolve(value)?;
        let encoding: Encoding = read(encoding, &format!("the encoding of `{name}`"))?;
        Ok((name.clone(), encoding))
    });
    encodings.collect()
}

fn fields(document: &Document, media: &Value) -> Result<BTreeMap<String, Field>, String> {
    let fields = encodings(document, media)?.into_iter();
    let fields = fields.map(|(name, encoding)| {
        for (header, value) in &encoding.headers {
            let is_own = header.eq_ignore_ascii_case("content-type")
                || header.eq_ignore_ascii_case("content-disposition");
            if !is_own && document.resolve(value)?["required"] == true {
                return Err(format!(
                    "the part `{name}` needs the header `{header}`, and parts are sent without headers of their own: leave the operation out"
                ));
            }
        }
        let field = Field {
            media_types: media_type::list(&encoding.content_type)?,
            form: encoding.style.map(|style| form(style, encoding.explode)),
            has_file: false,
        };
        Ok((name, field))
    });
    fields.collect()
}

impl Body {
    /// The body for a value, which fits the schema. The error says what is wrong with the value.
    pub(super) fn write(&self, value: &Value) -> Result<Payload, String> {
        let of = |bytes: Vec<u8>| Payload {
            content_type: self.content_type.clone(),
            bytes,
        };
        let object = || {
            let fields = value.as_object();
            fields.ok_or_else(|| {
                format!(
                    "`{}` is a form: give an object of its fields",
                    self.argument
                )
            })
        };
        Ok(match &self.kind {
            BodyKind::Json => of(value.to_string().into_bytes()),
            BodyKind::Text => of(style::text(value).into_bytes()),
            BodyKind::Form(forms) => of(one_line(object()?, forms).into_bytes()),
            BodyKind::Multipart(fields) => {
                let usual = Field::default();
                let mut parts = Vec::new();
                for (name, value) in object()? {
                    let field = fields.get(name).unwrap_or(&usual);
                    let place = format!("`{}.{name}`", self.argument);
                    field.parts(name, value, &place, &mut parts)?;
                }
                if let Some(part) = parts.iter().find(|part| !part.has_plain_name()) {
                    return Err(format!(
                        "`{}` has the field `{}`: the name of a field cannot have quotes, semicolons or control characters",
                        self.argument,
                        part.name.escape_debug()
                    ));
                }
                let (boundary, bytes) = multipart::write(&parts);
                Payload {
                    content_type: format!("{MULTIPART}; boundary={boundary}"),
                    bytes,
                }
            }
            BodyKind::File => {
                let place = format!("`{}`", self.argument);
                let allowed = media_type::list(&self.content_type)?;
                let file = FileArgument::read(value, &allowed, &place)?;
                Payload {
                    content_type: file.media_type,
                    bytes: file.content,
                }
            }
        })
    }
}

fn one_line(fields: &Map<String, Value>, forms: &BTreeMap<String, Form>) -> String {
    let pairs = fields.iter().flat_map(|(name, value)| {
        let usual = match value {
            // Its fields would be those of the form itself.
            Value::Object(_) => Style::DeepObject,
            _ => Style::Form,
        };
        let usual = Form {
            explode: true,
            ..form(usual, None)
        };
        style::pairs(name, forms.get(name).copied().unwrap_or(usual), value)
    });
    pairs.collect::<Vec<_>>().join("&")
}

impl Field {
    /// Whether its media types are those of files.
    fn is_upload(&self) -> bool {
        self.media_types.iter().any(|it| media_type::is_file(it))
    }

    /// Adds the parts of a value: one of each item of a list, and none of `null`.
    fn parts(
        &self,
        name: &str,
        value: &Value,
        place: &str,
        parts: &mut Vec<Part>,
    ) -> Result<(), String> {
        match (value, self.form) {
            (Value::Null, _) => {}
            (value, Some(form)) if !self.has_file => {
                let fields = style::plain_fields(name, form, value).into_iter();
                parts.extend(fields.map(|(name, text)| Part::text(&name, text)));
            }
            (Value::Array(items), _) => {
                for item in items {
                    parts.push(self.part(name, item, place)?);
                }
            }
            (value, _) => parts.push(self.part(name, value, place)?),
        }
        Ok(())
    }

    fn part(&self, name: &str, value: &Value, place: &str) -> Result<Part, String> {
        if self.has_file && value.is_object() {
            let file = FileArgument::read(value, &self.media_types, place)?;
            return Ok(Part {
                name: name.into(),
                file_name: Some(file.name),
                content_type: Some(file.media_type),
                content: file.content,
            });
        }
        let described = self.media_types.iter().find(|it| media_type::is_exact(it));
        let is_json = match described {
            Some(described) => is_json(described),
            None => value.is_object() || value.is_array(),
        };
        let text = match value {
            value if is_json => value.to_string(),
            value => style::text(value),
        };
        let json = is_json.then(|| "application/json".to_owned());
        Ok(Part {
            content_type: described.cloned().or(json),
            ..Part::text(name, text)
        })
    }
}
