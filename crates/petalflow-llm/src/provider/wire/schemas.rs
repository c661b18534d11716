//! The schemas of a request in the form that the provider accepts: enforced if possible.

use serde_json::{Map, Value};

use crate::LlmRequest;
use crate::provider::catalog::{Family, Target};
use crate::schema;

/// The maximum number of tools that Anthropic enforces in one request.
const MAX_STRICT_TOOLS: usize = 20;
/// The maximum number of properties with several types that Anthropic enforces in one request.
const MAX_UNIONS: usize = 16;

/// The schemas of one request.
#[derive(Debug)]
pub(in crate::provider) struct Schemas {
    /// Those of the tools, in order.
    pub(super) tools: Vec<SentSchema>,
    pub(super) answer: Option<SentSchema>,
}

/// A schema as it is sent.
#[derive(Debug)]
pub(super) struct SentSchema {
    pub(super) schema: Value,
    /// Whether the request says that the provider must enforce it.
    pub(super) strict: bool,
    /// The reason why a provider that enforces schemas does not enforce this one.
    problem: Option<String>,
}

impl Schemas {
    pub(in crate::provider) fn of(target: &Target<'_>, request: &LlmRequest) -> Self {
        let mut room = Room::of(target, request);
        let answer = request.json_schema.as_deref();
        // The answer comes first: an enforced answer is worth more than an enforced call.
        let answer = answer.map(|schema| sent(target, schema, &mut room, false));
        let tools = request.tools.iter();
        let tools = tools.map(|tool| sent(target, &tool.parameters, &mut room, true));
        Schemas {
            tools: tools.collect(),
            answer,
        }
    }

    /// The schemas that a provider that enforces schemas does not enforce, and why: names of tools, and `answer`.
    pub(in crate::provider) fn not_strict(&self, request: &LlmRequest) -> Map<String, Value> {
        let tools = request.tools.iter().map(|tool| tool.name.clone());
        let tools = tools.zip(&self.tools);
        let answer = self.answer.iter().map(|sent| ("answer".to_string(), sent));
        let all = tools.chain(answer);
        let all = all.filter_map(|(name, sent)| Some((name, sent.problem.clone()?.into())));
        all.collect()
    }
}

fn sent(target: &Target<'_>, neutral: &Value, room: &mut Room, of_tool: bool) -> SentSchema {
    let strict = match room.closed {
        None => Err(None),
        Some(Some(problem)) => Err(Some(problem.to_string())),
        Some(None) => schema::strict(neutral).map_err(|error| Some(error.to_string())),
    };
    let strict = strict.and_then(|schema| match room.take(&schema) {
        true => Ok(schema),
        false => Err(Some(format!(
            "the provider enforces at most {MAX_UNIONS} properties with several types in one request"
        ))),
    });
    match strict {
        Ok(schema) => SentSchema {
            schema,
            strict: true,
            problem: None,
        },
        Err(problem) => SentSchema {
            schema: match target.family {
                Family::Gemini => schema::gemini(neutral),
                _ if of_tool => schema::object(neutral),
                _ => neutral.clone(),
            },
            strict: false,
            problem,
        },
    }
}

/// What a provider still enforces in this request.
struct Room {
    /// `None`: it enforces no schema, or every one without `strict`. Otherwise the reason why it enforces none here.
    closed: Option<Option<&'static str>>,
    /// The number of properties with several types. `None` if there is no limit.
    unions: Option<usize>,
}

impl Room {
    fn of(target: &Target<'_>, request: &LlmRequest) -> Self {
        let is_anthropic = target.family == Family::Messages;
        let too_many = is_anthropic && request.tools.len() > MAX_STRICT_TOOLS;
        let problem = too_many.then_some("the provider enforces at most 20 tools in one request");
        Room {
            closed: target.capabilities.strict_schemas.then_some(problem),
            unions: is_anthropic.then_some(MAX_UNIONS),
        }
    }

    /// Whether there is room for this schema, which is then taken.
    fn take(&mut self, schema: &Value) -> bool {
        let Some(left) = &mut self.unions else {
            return true;
        };
        match left.checked_sub(unions(schema)) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }
}

/// The number of parts with several types.
fn unions(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(unions).sum(),
        Value::Object(fields) => {
            let own = fields.get("type").is_some_and(Value::is_array)
                || fields.get("anyOf").is_some_and(Value::is_array);
            usize::from(own) + fields.values().map(unions).sum::<usize>()
        }
        _ => 0,
    }
}
