//! The parameters of an operation.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::document::{Document, read};
use super::media_type::is_json;
use super::names;
use super::schema::Schemas;
use super::style::{Form, Style};

/// Headers that are not those of a program: HTTP, the body and the credentials set them.
const OWN_HEADERS: [&str; 16] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Where a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Location {
    Path,
    Query,
    Header,
    Cookie,
}

impl Location {
    pub(super) fn name(self) -> &'static str {
        match self {
            Location::Path => "path",
            Location::Query => "query",
            Location::Header => "header",
            Location::Cookie => "cookie",
        }
    }
}

/// A parameter, and the argument that it gets its value from.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) argument: String,
    pub(super) name: String,
    pub(super) location: Location,
    pub(super) form: Form,
    /// Whether the value is written as JSON.
    pub(super) is_json: bool,
}

/// A parameter as the document has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    name: String,
    #[serde(rename = "in")]
    location: Location,
    #[serde(default)]
    description: String,
    #[serde(default)]
    required: bool,
    style: Option<Style>,
    explode: Option<bool>,
    #[serde(default)]
    allow_reserved: bool,
}

/// The parameters of an operation with their schemas.
#[derive(Default)]
pub(super) struct Parameters {
    pub(super) all: Vec<Parameter>,
    /// The schemas by argument.
    pub(super) properties: Map<String, Value>,
    pub(super) required: Vec<Value>,
    pub(super) taken: BTreeSet<String>,
}

/// Reads the parameters of the path and of the operation. Those that `is_set` says, by location and name, are not arguments:
/// the program or a credential sets them.
pub(super) fn read_all<'d>(
    document: &'d Document,
    (item, operation): (&'d Value, &'d Value),
    schemas: &mut Schemas<'d>,
    is_set: impl Fn(Location, &str) -> bool,
) -> Result<Parameters, String> {
    let mut found: Vec<(Described, &Value)> = Vec::new();
    for place in [item, operation] {
        let listed = place.get("parameters").and_then(Value::as_array);
        for value in listed.into_iter().flatten() {
            let value = document.resolve(value)?;
            let name = value["name"].as_str().unwrap_or_default();
            let parameter: Described = read(value, &format!("the parameter `{name}`"))?;
            // One of the operation replaces that of the path.
            found
                .retain(|(it, _)| (it.location, &it.name) != (parameter.location, &parameter.name));
            found.push((parameter, value));
        }
    }
    let mut parameters = Parameters::default();
    for (described, value) in found {
        let is_own = described.location == Location::Header
            && OWN_HEADERS
                .iter()
                .any(|it| described.name.eq_ignore_ascii_case(it));
        if !is_own && !is_set(described.location, &described.name) {
            parameters.add(described, value, schemas)?;
        }
    }
    Ok(parameters)
}

impl Parameters {
    fn add<'d>(
        &mut self,
        described: Described,
        value: &'d Value,
        schemas: &mut Schemas<'d>,
    ) -> Result<(), String> {
        let (name, location) = (described.name, described.location);
        let problem = |problem: String| format!("the parameter `{name}`: {problem}");
        let default = match location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        let style = described.style.unwrap_or(default);
        if !fits(style, location) {
            let location = location.name();
            return Err(problem(format!(
                "its style cannot be in the {location}: leave `style` out"
            )));
        }
        let content = value.get("content").and_then(Value::as_object);
        let content = content.and_then(|content| content.iter().next());
        let (schema, is_json) = match content {
            Some((kind, content)) if is_json(kind) => (content.get("schema"), true),
            Some((kind, _)) => {
                return Err(problem(format!(
                    "its `content` is `{kind}`, and only JSON can be sent"
                )));
            }
            None => (value.get("schema"), false),
        };
        let schema = schema.map(|schema| schemas.convert(schema));
        let schema = schema.transpose().map_err(&problem)?;
        let mut schema = schema.unwrap_or_else(|| Map::new().into());
        if let Value::Object(schema) = &mut schema
            && !described.description.is_empty()
        {
            schema.insert("description".into(), described.description.into());
        }
        let mut argument = names::valid(&name, location.name());
        if self.taken.contains(&argument) {
            argument = names::valid(&format!("{argument}_{}", location.name()), "");
        }
        let argument = names::unique(argument, &mut self.taken);
        self.properties.insert(argument.clone(), schema);
        // A path has all of its values, whatever the document says.
        if described.required || location == Location::Path {
            self.required.push(argument.clone().into());
        }
        self.all.push(Parameter {
            argument,
            form: Form {
                style,
                explode: described.explode.unwrap_or(style == Style::Form),
                allow_reserved: described.allow_reserved && location == Location::Query,
            },
            name,
            location,
            is_json,
        });
        Ok(())
    }
}

fn fits(style: Style, location: Location) -> bool {
    match location {
        Location::Path => matches!(style, Style::Simple | Style::Label | Style::Matrix),
        Location::Header => style == Style::Simple,
        Location::Cookie => style == Style::Form,
        Location::Query => !matches!(style, Style::Simple | Style::Label | Style::Matrix),
    }
}
