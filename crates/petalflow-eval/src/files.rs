//! Cases in files.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Case, CaseTurn, EvalError, ExpectedCall};

/// A case as it is written: with `turns`, or with the fields of its only turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    state: Map<String, Value>,
    #[serde(default)]
    turns: Vec<CaseTurn>,
    input: Option<String>,
    output: Option<String>,
    json: Option<Value>,
    calls: Option<Vec<ExpectedCall>>,
    rubric: Option<String>,
}

/// Reads cases from JSON: a list, or an object with the field `cases`. A case has the fields of [`Case`]; one with a
/// single turn can have the fields of [`CaseTurn`] itself.
///
/// ```
/// let cases = petalflow_eval::cases_from_json(r#"[
///     {"name": "france", "input": "What is the capital of France?", "output": "Paris"},
///     {"name": "weather", "turns": [
///         {"input": "Hello"},
///         {"input": "Rain in Kyoto?", "calls": [{"name": "weather", "arguments": {"city": "Kyoto"}}]}
///     ]}
/// ]"#)?;
/// assert_eq!(cases[1].turns.len(), 2);
/// # Ok::<(), petalflow_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// If the text is not such a list, if two cases have the same name, or if a case has no turn.
pub fn cases_from_json(text: &str) -> Result<Vec<Case>, EvalError> {
    into_cases(serde_json::from_str(text).map_err(|error| EvalError::Format(error.into()))?)
}

/// Reads cases from YAML, with the same fields as [`cases_from_json`].
///
/// ```
/// let cases = petalflow_eval::cases_from_yaml("
/// - name: france
///   input: What is the capital of France?
///   output: Paris
/// ")?;
/// assert_eq!(cases[0].turns[0].output.as_deref(), Some("Paris"));
/// # Ok::<(), petalflow_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// Those of [`cases_from_json`].
#[cfg(feature = "yaml")]
pub fn cases_from_yaml(text: &str) -> Result<Vec<Case>, EvalError> {
    into_cases(serde_saphyr::from_str(text).map_err(|error| EvalError::Format(error.into()))?)
}

fn into_cases(mut cases: Value) -> Result<Vec<Case>, EvalError> {
    if let Some(list) = cases.get_mut("cases") {
        cases = list.take();
    }
    let cases: Vec<Written> =
        serde_json::from_value(cases).map_err(|error| EvalError::Format(error.into()))?;
    checked(cases.into_iter().map(Case::from).collect())
}

impl From<Written> for Case {
    fn from(written: Written) -> Self {
        let only = written.input.map(|input| CaseTurn {
            input,
            output: written.output,
            json: written.json,
            calls: written.calls,
            rubric: written.rubric,
        });
        Case {
            name: written.name,
            state: written.state,
            turns: only.into_iter().chain(written.turns).collect(),
        }
    }
}

/// Checks that names differ and that each case has a turn.
pub(crate) fn checked(cases: Vec<Case>) -> Result<Vec<Case>, EvalError> {
    let mut names = HashSet::new();
    for case in &cases {
        if !names.insert(&*case.name) {
            return Err(EvalError::DuplicateName(case.name.clone()));
        }
        if case.turns.is_empty() {
            return Err(EvalError::NoTurn(case.name.clone()));
        }
    }
    Ok(cases)
}
