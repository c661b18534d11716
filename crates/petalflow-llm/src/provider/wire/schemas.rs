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
pub(crate) struct Schemas {
    /// Those of the tools, in order.
    pub(super) tools: Vec<SentSchema>,
    /// Those of the searchable tools, in order. A provider enforces the schemas of a small number of tools only.
    pub(super) searchable: Vec<Value>,
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
    pub(crate) fn of(target: &Target<'_>, request: &LlmRequest) -> Self {
        let mut room = Room::of(target, request);
        let answer = request.json_schema.as_deref();
        // The answer comes first: an enforced answer is worth more than an enforced call.
        let answer = answer.map(|schema| sent(target, schema, &mut room, false));
        let tools = request.tools.iter();
        let tools = tools.map(|tool| sent(target, &tool.parameters, &mut room, true));
        let searchable = request.searchable_tools.iter();
        let searchable = searchable.map(|tool| schema::object(&tool.parameters));
        Schemas {
            tools: tools.collect(),
            searchable: searchable.collect(),
            answer,
        }
    }

    /// The schemas that a provider that enforces schemas does not enforce, and why: names of tools, and `answer`.
    pub(crate) fn not_strict(&self, request: &LlmRequest) -> Map<String, Value> {
        let tools = request.tools.iter().map(|tool| tool.name.clone());
        let tools = tools.zip(&self.tools);
        let answer = self.answer.iter().map(|sent| ("answer".to_string(), sent));
        let all = tools.chain(answer);
        let all = all.filter_map(|(name, sent)| Some((name, sent.problem.clone()?.into())));
        all.collect()
    }
}

fn sent(target: &Target<'_>, neutral: &Value, room: &mut Room, of_tool: bool) -> SentSchema {
    match room.strict(neutral) {
        Some(Ok(schema)) => SentSchema {
            schema,
            strict: true,
            problem: None,
        },
        not_strict => SentSchema {
            schema: match target.family {
                Family::Gemini => schema::gemini(neutral),
                _ if of_tool => schema::object(neutral),
                _ => neutral.clone(),
            },
            strict: false,
            problem: not_strict.and_then(Result::err),
        },
    }
}

/// What a provider still enforces in this request.
enum Room {
    /// It enforces no schema, or every one without `strict`.
    Unused,
    /// It enforces none in this request, for this reason.
    Closed(&'static str),
    /// It enforces schemas with this number of properties with several types in all, if there is such a limit.
    Open { unions: Option<usize> },
}

impl Room {
    fn of(target: &Target<'_>, request: &LlmRequest) -> Self {
        let is_anthropic = target.family == Family::Messages;
        if !target.capabilities.strict_schemas {
            return Room::Unused;
        }
        if is_anthropic && request.tools.len() > MAX_STRICT_TOOLS {
            return Room::Closed("the provider enforces at most 20 tools in one request");
        }
        Room::Open {
            unions: is_anthropic.then_some(MAX_UNIONS),
        }
    }

    /// The strict form of a schema, or the reason why there is none. `None` if none is wanted.
    fn strict(&mut self, neutral: &Value) -> Option<Result<Value, String>> {
        let unions = match self {
            Room::Unused => return None,
            Room::Closed(problem) => return Some(Err((*problem).to_string())),
            Room::Open { unions } => unions,
        };
        let strict = match schema::strict(neutral) {
            Ok(strict) => strict,
            Err(error) => return Some(Err(error.to_string())),
        };
        if let Some(left) = unions {
            let Some(rest) = left.checked_sub(self::unions(&strict)) else {
                return Some(Err(format!(
                    "the provider enforces at most {MAX_UNIONS} properties with several types in one request"
                )));
            };
            *left = rest;
        }
        Some(Ok(strict))
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
