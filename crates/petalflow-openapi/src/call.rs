//! What a call of an operation is made of: read once, when the tools are made.

use petalflow::tool::ToolSpec;
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::address::{self, Segment};
use super::body::{self, Body};
use super::document::Document;
use super::operation::{Listed, Operation};
use super::options::Options;
use super::parameter::{self, Location, Parameter};
use super::schema::Schemas;
use super::security::{self, Placed};
use super::{OperationError, names};

/// The longest description of a tool, in characters. Providers refuse longer ones.
const LONGEST_DESCRIPTION: usize = 1_000;

/// An operation as it is called.
pub(super) struct Call {
    pub(super) operation: Operation,
    pub(super) spec: ToolSpec,
    pub(super) base: Url,
    pub(super) path: Vec<Segment>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) credentials: Vec<Placed>,
}

impl Call {
    /// Reads what a call needs.
    pub(super) fn of(
        document: &Document,
        listed: &Listed<'_>,
        options: &Options,
    ) -> Result<Self, OperationError> {
        read(document, listed, options).map_err(|problem| listed.operation.problem(problem))
    }
}

fn read(document: &Document, listed: &Listed<'_>, options: &Options) -> Result<Call, String> {
    let Listed {
        operation,
        item,
        value,
    } = listed;
    if operation.method == "TRACE" {
        return Err("requests of the method TRACE are not sent: leave it out".into());
    }
    let base = match &options.server {
        Some(server) => server.clone(),
        None => address::of_operation(document.root(), item, value)?,
    };
    let credentials = if options.without_credentials {
        Vec::new()
    } else {
        security::required(document, value, &options.credentials)?
    };
    let mut schemas = Schemas::of(document);
    let is_set = |location: Location, name: &str| match location {
        Location::Header => {
            let given = options.headers.iter().map(|given| given.name.as_str());
            let secret = credentials.iter().filter_map(Placed::header);
            let idempotency = options.idempotency_header.iter().map(AsRef::as_ref);
            given
                .chain(secret)
                .chain(idempotency)
                .any(|it| it.eq_ignore_ascii_case(name))
        }
        location => credentials
            .iter()
            .any(|it| it.is_parameter(location.name(), name)),
    };
    let mut parameters = parameter::read_all(document, (item, value), &mut schemas, is_set)?;
    let path = address::segments(&operation.path)?;
    let in_path = |name: &str| {
        let mut all = parameters.all.iter();
        all.any(|it| it.location == Location::Path && it.name == name)
    };
    if let Some(missing) = address::names(&path).find(|name| !in_path(name)) {
        return Err(format!(
            "its path has `{{{missing}}}`, and no parameter in the path has this name: add it to `parameters`"
        ));
    }
    let body = match &*operation.method {
        // A body of these has no meaning.
        "GET" | "HEAD" => None,
        _ => body::read_body(document, value, &mut schemas)?,
    };
    let body = body.map(|described| {
        let argument = names::unique("body".into(), &mut parameters.taken);
        if described.required {
            parameters.required.push(argument.clone().into());
        }
        parameters
            .properties
            .insert(argument.clone(), described.schema);
        Body {
            argument,
            content_type: described.content_type,
            kind: described.kind,
        }
    });
    let limit = options.schema_limit;
    let too_long = format!(
        "the schema of its arguments has more than {limit} bytes, all of which a model reads: leave it out, or raise `schema_limit`"
    );
    let definitions = schemas
        .definitions(limit)?
        .ok_or_else(|| too_long.clone())?;
    let mut schema = json!({
        "type": "object",
        "properties": parameters.properties,
        "additionalProperties": false,
    });
    if !parameters.required.is_empty() {
        schema["required"] = parameters.required.into();
    }
    if !definitions.is_empty() {
        schema["$defs"] = Map::into(definitions);
    }
    if schema.to_string().len() > limit {
        return Err(too_long);
    }
    let description = description(operation, value);
    Ok(Call {
        spec: ToolSpec::new(operation.name.clone(), description, schema),
        operation: operation.clone(),
        base,
        path,
        parameters: parameters.all,
        body,
        credentials,
    })
}

fn description(operation: &Operation, value: &Value) -> String {
    let long = value["description"].as_str().unwrap_or_default().trim();
    let text = match (&*operation.summary, long) {
        ("", "") => operation.title(),
        (text, "") | ("", text) => text.into(),
        (summary, long) if long.starts_with(summary) => long.into(),
        (summary, long) => format!("{summary}\n\n{long}"),
    };
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{} ..", text[..end].trim_end()),
        None => text,
    }
}
