//! Eval sets of ADK.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::files::checked;
use super::{Case, CaseTurn, EvalError, ExpectedCall};

#[derive(Deserialize)]
struct EvalSet {
    #[serde(alias = "evalCases")]
    eval_cases: Vec<EvalCase>,
}

#[derive(Deserialize)]
struct EvalCase {
    #[serde(alias = "evalId")]
    eval_id: String,
    conversation: Vec<Invocation>,
    #[serde(default, alias = "sessionInput")]
    session_input: Option<SessionInput>,
}

#[derive(Deserialize)]
struct SessionInput {
    #[serde(default)]
    state: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Invocation {
    #[serde(alias = "userContent")]
    user_content: Content,
    #[serde(default, alias = "finalResponse")]
    final_response: Option<Content>,
    #[serde(default, alias = "intermediateData")]
    intermediate_data: Option<Intermediate>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Intermediate {
    #[serde(default, alias = "toolUses")]
    tool_uses: Option<Vec<ToolUse>>,
}

#[derive(Deserialize)]
struct ToolUse {
    name: String,
    #[serde(default)]
    args: Option<Value>,
}

/// Reads cases from an eval set of ADK (`*.evalset.json`): its conversations with their final responses, tool uses and
/// session state. Other fields are ignored.
///
/// ```
/// let cases = petalflow_eval::cases_from_adk(r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "roll", "conversation": [{
///     "user_content": {"role": "user", "parts": [{"text": "Roll a die."}]},
///     "final_response": {"role": "model", "parts": [{"text": "You rolled 4."}]},
///     "intermediate_data": {"tool_uses": [{"name": "roll_die", "args": {"sides": 6}}]}
/// }]}]}"#)?;
/// assert_eq!(cases[0].turns[0].calls.as_ref().unwrap()[0].name, "roll_die");
/// # Ok::<(), petalflow_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// If the text is not an eval set, if two cases have the same id, or if a case has no turn.
pub fn cases_from_adk(text: &str) -> Result<Vec<Case>, EvalError> {
    let set: EvalSet =
        serde_json::from_str(text).map_err(|error| EvalError::Format(error.into()))?;
    let cases = set.eval_cases.into_iter().map(|case| Case {
        name: case.eval_id,
        state: case
            .session_input
            .and_then(|input| input.state)
            .unwrap_or_default(),
        turns: case.conversation.into_iter().map(turn).collect(),
    });
    checked(cases.collect())
}

fn turn(invocation: Invocation) -> CaseTurn {
    let calls = invocation.intermediate_data.and_then(|data| data.tool_uses);
    let calls = calls.map(|uses| {
        let calls = uses.into_iter().map(|tool| ExpectedCall {
            name: tool.name,
            arguments: tool.args,
        });
        calls.collect()
    });
    CaseTurn {
        output: invocation
            .final_response
            .map(text)
            .filter(|text| !text.is_empty()),
        calls,
        ..CaseTurn::new(text(invocation.user_content))
    }
}

fn text(content: Content) -> String {
    let parts = content.parts.into_iter().flatten();
    parts.filter_map(|part| part.text).collect()
}
