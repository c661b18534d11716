//! Answers of clients: to questions, and to approvals.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use axum::http::StatusCode;
use petalflow::interrupt::{Answer, Ask, Decision, Interrupt, InterruptKind};
use petalflow::state::State;
use petalflow::tool::schema;
use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// The body of an answer.
#[derive(Clone, Debug)]
pub(crate) struct AnswerBody(Map<String, Value>);

/// The questions of a flow that clients can answer, by name.
#[derive(Clone, Default)]
pub(crate) struct Questions(BTreeMap<&'static str, Question>);

#[derive(Clone)]
struct Question {
    /// The JSON Schema of its answer.
    schema: Value,
    read: ReadAnswer,
}

type ReadAnswer = Arc<dyn Fn(&Interrupt, AnswerBody) -> Result<Answer, Refusal> + Send + Sync>;

impl AnswerBody {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(body)
            .map(AnswerBody)
            .map_err(|error| not_an_answer(&error))
    }

    /// The body in a value that a protocol sends: it has the fields of one, or is the answer itself.
    #[cfg(any(
        feature = "a2a",
        feature = "ag-ui",
        feature = "mcp",
        feature = "openai"
    ))]
    pub(crate) fn of(value: Value) -> Self {
        let known = ["answer", "decision", "approved"];
        match value {
            Value::Object(fields) if known.iter().any(|name| fields.contains_key(*name)) => {
                AnswerBody(fields)
            }
            answer => AnswerBody(Map::from_iter([("answer".to_string(), answer)])),
        }
    }

    /// The body as it was sent.
    #[cfg(feature = "agent")]
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// The answer to a question: the field `answer`, which is the only one.
    pub(super) fn answer(mut self) -> Result<Value, Refusal> {
        let answer = self.0.remove("answer");
        self.has_only(&["answer"])?;
        answer.ok_or_else(|| not_an_answer(&"the field `answer` is missing"))
    }

    /// All fields, if they are some of these.
    pub(super) fn fields(self, known: &[&str]) -> Result<Map<String, Value>, Refusal> {
        self.has_only(known)?;
        Ok(self.0)
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// A misspelt field would be another answer, and a question takes no second one.
    fn has_only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(not_an_answer(&format_args!(
                "there is no field `{unknown}`; the fields are `{}`",
                known.join("`, `")
            ))),
        }
    }

    /// The decision about a node that waits for an approval: `decision`, or `approved` as in the answer of a human node.
    pub(super) fn decision<S: State>(self) -> Result<Decision<S>, Refusal> {
        let mut fields = self.fields(&[
            "decision",
            "approved",
            "by",
            "responded_by",
            "reason",
            "notes",
        ])?;
        let decision = match (fields.remove("decision"), fields.remove("approved")) {
            (Some(Value::String(decision)), None) => match &*decision {
                "approve" => Decision::approve(),
                "reject" => Decision::reject(),
                "skip" => Decision::skip(),
                other => {
                    return Err(not_an_answer(&format_args!(
                        "`{other}` is no decision: it is `approve`, `reject` or `skip`"
                    )));
                }
            },
            (None, Some(Value::Bool(true))) => Decision::approve(),
            (None, Some(Value::Bool(false))) => Decision::reject(),
            (None, None) => {
                return Err(unfit(
                    "`decision` is missing: a node that waits for an approval is answered with `approve`, `reject` or `skip`",
                ));
            }
            _ => {
                return Err(not_an_answer(
                    &"`decision` is a text, or `approved` is `true` or `false`, and only one of the two is given",
                ));
            }
        };
        let mut text = |names: [&str; 2]| {
            let texts = names.map(|name| fields.remove(name));
            let text = texts.into_iter().flatten().next();
            match text {
                None => Ok(None),
                Some(Value::String(text)) => Ok(Some(text)),
                Some(_) => Err(not_an_answer(&format_args!("`{}` is no text", names[0]))),
            }
        };
        let (by, reason) = (text(["by", "responded_by"])?, text(["reason", "notes"])?);
        let decision = match by {
            Some(by) => decision.by(by),
            None => decision,
        };
        Ok(match reason {
            Some(reason) => decision.because(reason),
            None => decision,
        })
    }
}

impl From<Map<String, Value>> for AnswerBody {
    fn from(fields: Map<String, Value>) -> Self {
        AnswerBody(fields)
    }
}

impl Questions {
    pub(super) fn add<A: Ask<Answer: JsonSchema>>(&mut self) {
        let schema = value_schema::<A::Answer>();
        let checked = schema.clone();
        self.add_read::<A>(schema, move |open, body| {
            let answer = body.answer()?;
            let mistakes = schema::check(&checked, &answer);
            if !mistakes.is_empty() {
                return Err(unfit(format!("no answer to `{}`: {mistakes}", A::NAME)));
            }
            Ok(Answer::deserialize::<A>(open.id, answer)?)
        });
    }

    /// Adds a question whose answer is read by this function.
    pub(super) fn add_read<A: Ask>(
        &mut self,
        schema: Value,
        read: impl Fn(&Interrupt, AnswerBody) -> Result<Answer, Refusal> + Send + Sync + 'static,
    ) {
        let read = Arc::new(read);
        self.0.insert(A::NAME, Question { schema, read });
    }

    /// The JSON Schema of the answers to the question with this name.
    pub(super) fn schema(&self, name: &str) -> Option<&Value> {
        Some(&self.0.get(name)?.schema)
    }

    /// The JSON Schemas of the answers, by the name of the question.
    pub(super) fn schemas(&self) -> Value {
        let schemas = self.0.iter();
        let schemas =
            schemas.map(|(name, question)| ((*name).to_string(), question.schema.clone()));
        Value::Object(schemas.collect())
    }

    /// The answer to an open question.
    pub(super) fn read(&self, open: &Interrupt, body: AnswerBody) -> Result<Answer, Refusal> {
        let InterruptKind::Ask { name, .. } = &open.kind else {
            return Err(unfit("a node waits for an approval: send a `decision`"));
        };
        match self.0.get(&**name) {
            Some(question) => (question.read)(open, body),
            None => Err(unfit(format!(
                "clients cannot answer the question `{name}`: serve the flow with `.question::<{name}>()`"
            ))),
        }
    }
}

/// The JSON Schema of a value, which may be a text, a number or a choice. The schema of a tool is always that of an object.
pub(super) fn value_schema<T: JsonSchema>() -> Value {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Field<T> {
        value: T,
    }
    let mut object = schema::of::<Field<T>>();
    let mut schema = object["properties"]["value"].take();
    // Recursive types refer to their definitions at the root.
    if let (Some(schema), Some(definitions)) = (schema.as_object_mut(), object.get_mut("$defs")) {
        schema.insert("$defs".into(), definitions.take());
    }
    schema
}

pub(super) fn not_an_answer(problem: &dyn Display) -> Refusal {
    let text = format!("the body is not an answer: {problem}");
    Refusal::new(StatusCode::BAD_REQUEST, text)
}

pub(crate) fn unfit(text: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}
