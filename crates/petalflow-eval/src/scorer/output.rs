//! Scorers of the text of an answer.

use regex::Regex;
use serde_json::Value;

use super::{Score, Scorer};
use crate::Turn;
use petalflow::{BoxError, async_trait};

/// A scorer of the text of an answer, made by [`exact`], [`contains`], [`matches()`] or [`json_fields`].
///
/// ```
/// use petalflow_eval::Scorer as _;
/// use petalflow_eval::scorer::{self, Output};
///
/// fn of_answer(is_strict: bool) -> Output {
///     if is_strict { scorer::exact() } else { scorer::contains() }
/// }
/// assert_eq!(of_answer(false).name(), "contains");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Output {
    name: &'static str,
    score: fn(&Turn<'_>) -> Result<Option<Score>, BoxError>,
}

#[async_trait]
impl Scorer for Output {
    fn name(&self) -> &str {
        self.name
    }

    async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError> {
        (self.score)(turn)
    }
}

/// Compares the answer with `output`, without the spaces around both.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("france").turn("The capital of France, in one word?", |turn| turn.output("Paris"));
/// let evaluation = Evaluation::new([case]).scorer(scorer::exact());
/// evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["Paris\n"])))).await.assert_passed();
/// # }
/// ```
pub fn exact() -> Output {
    let score = |turn: &Turn<'_>| {
        let wanted = turn.expected.output.as_deref().map(str::trim);
        Ok(wanted.map(|wanted| {
            Score::pass_if(turn.answer.trim() == wanted, || {
                format!("the answer is not `{wanted}`")
            })
        }))
    };
    Output {
        name: "exact",
        score,
    }
}

/// Checks that the answer contains `output`. Upper case and lower case are equal.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("shop").turn("When do you open?", |turn| turn.output("at nine"));
/// let evaluation = Evaluation::new([case]).scorer(scorer::contains());
/// evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["At nine, every day."])))).await.assert_passed();
/// # }
/// ```
pub fn contains() -> Output {
    let score = |turn: &Turn<'_>| {
        let wanted = turn.expected.output.as_deref();
        Ok(wanted.map(|wanted| {
            let found = turn.answer.to_lowercase().contains(&wanted.to_lowercase());
            Score::pass_if(found, || format!("the answer does not contain `{wanted}`"))
        }))
    };
    Output {
        name: "contains",
        score,
    }
}

/// Checks that the regular expression in `output` matches a part of the answer. An invalid expression is an error.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("order").turn("Order a book.", |turn| turn.output(r"order \d{4}"));
/// let evaluation = Evaluation::new([case]).scorer(scorer::matches());
/// evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["This is order 4711."])))).await.assert_passed();
/// # }
/// ```
pub fn matches() -> Output {
    let score = |turn: &Turn<'_>| {
        let Some(pattern) = &turn.expected.output else {
            return Ok(None);
        };
        let found = Regex::new(pattern)?.is_match(turn.answer);
        Ok(Some(Score::pass_if(found, || {
            format!("the answer does not match `{pattern}`")
        })))
    };
    Output {
        name: "matches",
        score,
    }
}

/// Checks that the answer is JSON with the fields of `json`, also within objects. The score is the part of the fields
/// that are equal.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("spain").turn("Spain as JSON?", |turn| turn.json(json!({ "capital": "Madrid", "continent": "Europe" })));
/// let answer = r#"{ "capital": "Madrid", "continent": "Asia", "language": "Spanish" }"#;
/// let evaluation = Evaluation::new([case]).scorer(scorer::json_fields());
/// let report = evaluation.run(|_| Ok(Agent::new(ScriptedModel::new([answer])))).await;
/// assert_eq!(report.cases[0].scores[0].value, 0.5);
/// # }
/// ```
pub fn json_fields() -> Output {
    let score = |turn: &Turn<'_>| {
        let Some(wanted) = &turn.expected.json else {
            return Ok(None);
        };
        let answer: Value = match turn.conversation.output() {
            Ok(answer) => answer,
            Err(error) => return Ok(Some(Score::fail(error.to_string()))),
        };
        let (mut equal, mut different) = (0, Vec::new());
        compare(wanted, Some(&answer), "", &mut equal, &mut different);
        let all = equal + different.len();
        Ok(Some(Score::part(equal, all, different.join("; "))))
    };
    Output {
        name: "json fields",
        score,
    }
}

/// Counts the equal leaves of `wanted`, and lists the different ones.
fn compare(
    wanted: &Value,
    found: Option<&Value>,
    path: &str,
    equal: &mut usize,
    different: &mut Vec<String>,
) {
    match (wanted, found) {
        (Value::Object(fields), Some(Value::Object(found))) if !fields.is_empty() => {
            for (name, wanted) in fields {
                compare(
                    wanted,
                    found.get(name),
                    &format!("{path}/{name}"),
                    equal,
                    different,
                );
            }
        }
        (wanted, Some(found)) if is_equal(wanted, found) => *equal += 1,
        (wanted, Some(found)) => different.push(format!("`{path}` is {found} and not {wanted}")),
        (wanted, None) => different.push(format!("`{path}` is missing; {wanted} was expected")),
    }
}

/// Whether two values are equal. Numbers are compared by value: 1 equals 1.0.
pub(super) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, one)| other.get(name).is_some_and(|other| is_equal(one, other)))
        }
        _ => one == other,
    }
}
