//! Questions of tools, and how a person answers them in an editor.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow::interrupt::{Answer, Ask, Interrupt, InterruptId, InterruptKind};
use petalflow::tool::schema;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The questions that a person can answer, by name.
#[derive(Clone, Default)]
pub(crate) struct Questions(BTreeMap<&'static str, Question>);

/// A type of questions.
#[derive(Clone)]
pub(crate) struct Question {
    /// The JSON Schema of the answers.
    pub(crate) schema: Value,
    read: Arc<dyn Fn(InterruptId, &Value) -> Result<Answer, BoxError> + Send + Sync>,
}

impl Questions {
    pub(crate) fn add<A: Ask<Answer: JsonSchema>>(&mut self) {
        let schema = value_schema::<A::Answer>();
        let checked = schema.clone();
        let read = Arc::new(move |id, answer: &Value| {
            let mistakes = schema::check(&checked, answer);
            if !mistakes.is_empty() {
                return Err(mistakes.to_string().into());
            }
            Ok(Answer::deserialize::<A>(id, answer)?)
        });
        self.0.insert(A::NAME, Question { schema, read });
    }

    /// The type of an open question. The error is for the person.
    pub(crate) fn of(&self, open: &Interrupt) -> Result<&Question, String> {
        let InterruptKind::Ask { name, .. } = &open.kind else {
            return Err("The agent waits for an approval that an editor cannot give.".into());
        };
        self.0.get(&**name).ok_or_else(|| {
            format!(
                "The agent waits for an answer to `{name}`, which this program does not take from an editor: serve it with \
                 `.question::<{name}>()`."
            )
        })
    }
}

impl Question {
    /// The answer in this value.
    pub(crate) fn read(&self, open: &Interrupt, answer: &Value) -> Result<Answer, BoxError> {
        (self.read)(open.id, answer)
    }

    /// The answer in a text: the text itself, the JSON in it, or `yes` and `no`. The error says what is wrong with it.
    pub(crate) fn read_text(&self, open: &Interrupt, text: &str) -> Result<Answer, BoxError> {
        let text = text.trim();
        let whole = self.read(open, &text.into());
        let word = text.trim_end_matches(['.', '!']).to_lowercase();
        let decision = match &*word {
            "yes" => Some(true.into()),
            "no" => Some(false.into()),
            _ => None,
        };
        let mut others = serde_json::from_str(text).ok().into_iter().chain(decision);
        whole.or_else(|problem| {
            others
                .find_map(|value: Value| self.read(open, &value).ok())
                .ok_or(problem)
        })
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// What a person reads.
pub(crate) fn text(open: &Interrupt) -> String {
    let InterruptKind::Ask { name, question } = &open.kind else {
        return format!("`{}` waits for an approval.", open.node);
    };
    let fields = question.decode::<Value>().unwrap_or_default();
    let Value::Object(fields) = fields else {
        return format!("{name}: {}", word(&fields));
    };
    let fields = fields
        .iter()
        .map(|(name, value)| format!("\n- {name}: {}", word(value)));
    format!("{name}{}", fields.collect::<String>())
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The JSON Schema of a value, which may be a text, a number or a choice. The schema of a tool is always that of an object.
fn value_schema<T: JsonSchema>() -> Value {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Field<T> {
        value: T,
    }
    let mut object = schema::of::<Field<T>>();
    let mut value = object["properties"]["value"].take();
    // Recursive types refer to their definitions at the root.
    if let Some(definitions) = object.get("$defs") {
        value["$defs"] = definitions.clone();
    }
    if value.is_null() { json!({}) } else { value }
}
