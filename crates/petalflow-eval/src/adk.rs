//! Eval sets of ADK.

use serde::Deserialize;
use serde::de::DeserializeOwned;
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
    #[serde(default)]
    conversation: Option<Vec<Invocation>>,
    #[serde(default, alias = "conversationScenario")]
    conversation_scenario: Option<Value>,
    #[serde(default, alias = "sessionInput")]
    session_input: Option<SessionInput>,
    #[serde(default)]
    rubrics: Option<Vec<Rubric>>,
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
    #[serde(default)]
    rubrics: Option<Vec<Rubric>>,
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
    #[serde(default)]
    thought: Option<bool>,
    #[serde(default, alias = "functionCall")]
    function_call: Option<ToolUse>,
}

/// The steps of an invocation: its calls, or its events.
#[derive(Deserialize)]
struct Intermediate {
    #[serde(default, alias = "toolUses")]
    tool_uses: Option<Vec<ToolUse>>,
    #[serde(default, alias = "invocationEvents")]
    invocation_events: Option<Vec<InvocationEvent>>,
}

#[derive(Deserialize)]
struct InvocationEvent {
    #[serde(default)]
    content: Option<Content>,
}

#[derive(Deserialize)]
struct ToolUse {
    name: String,
    #[serde(default)]
    args: Option<Value>,
}

#[derive(Deserialize)]
struct Rubric {
    #[serde(default, alias = "rubricContent")]
    rubric_content: Option<RubricContent>,
}

#[derive(Deserialize)]
struct RubricContent {
    #[serde(default, alias = "textProperty")]
    text_property: Option<String>,
}

/// A case of the form before eval sets had a schema.
#[derive(Deserialize)]
struct OldCase {
    name: String,
    data: Vec<OldTurn>,
    #[serde(default)]
    initial_session: Option<SessionInput>,
}

#[derive(Deserialize)]
struct OldTurn {
    query: String,
    #[serde(default)]
    expected_tool_use: Option<Vec<OldToolUse>>,
    #[serde(default)]
    reference: Option<String>,
}

#[derive(Deserialize)]
struct OldToolUse {
    tool_name: String,
    #[serde(default)]
    tool_input: Option<Value>,
}

/// Reads cases from an eval set of ADK (`*.evalset.json`, `*.test.json`): its conversations with their final responses, tool
/// calls, rubrics and session state. Other fields are ignored. The rubrics of a turn, and those of its case, become one text
/// for the judge.
///
/// The form before eval sets had a schema is read too: a list of cases with `data`, or the turns of one case.
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
/// If the text is not an eval set, if two cases have the same id, if a case has no turn, or if a case has a scenario in place
/// of a conversation: no user is simulated.
pub fn cases_from_adk(text: &str) -> Result<Vec<Case>, EvalError> {
    let value: Value = parsed(serde_json::from_str(text))?;
    let cases: Result<Vec<Case>, EvalError> = match &value {
        Value::Array(list) if list.iter().any(|case| case.get("query").is_some()) => {
            let turns: Vec<OldTurn> = read(value)?;
            let turns = turns.into_iter().map(old_turn).collect();
            Ok(vec![Case {
                turns,
                ..Case::new("conversation")
            }])
        }
        Value::Array(list) if !list.is_empty() => {
            let cases: Vec<OldCase> = read(value)?;
            Ok(cases.into_iter().map(old_case).collect())
        }
        _ => {
            let set: EvalSet = read(value)?;
            set.eval_cases.into_iter().map(case).collect()
        }
    };
    checked(cases?)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, EvalError> {
    parsed(serde_json::from_value(value))
}

fn parsed<T>(result: serde_json::Result<T>) -> Result<T, EvalError> {
    result.map_err(|error| EvalError::Format(error.into()))
}

fn case(case: EvalCase) -> Result<Case, EvalError> {
    let EvalCase {
        eval_id: name,
        conversation,
        conversation_scenario: scenario,
        session_input,
        rubrics,
    } = case;
    if scenario.is_some() && conversation.is_none() {
        return Err(EvalError::Scenario(name));
    }
    let of_case = rubrics.unwrap_or_default();
    let turns = conversation.into_iter().flatten();
    Ok(Case {
        name,
        state: state(session_input),
        turns: turns.map(|invocation| turn(invocation, &of_case)).collect(),
    })
}

fn state(input: Option<SessionInput>) -> Map<String, Value> {
    input.and_then(|input| input.state).unwrap_or_default()
}

fn turn(invocation: Invocation, of_case: &[Rubric]) -> CaseTurn {
    let Invocation {
        user_content,
        final_response,
        intermediate_data,
        rubrics,
    } = invocation;
    let calls = intermediate_data.and_then(calls);
    let own = rubrics.unwrap_or_default();
    let rubrics = own.iter().chain(of_case);
    let rubrics: Vec<&str> = rubrics.filter_map(Rubric::text).collect();
    CaseTurn {
        output: final_response.map(text).filter(|text| !text.is_empty()),
        calls,
        rubric: (!rubrics.is_empty()).then(|| rubrics.join("\n")),
        ..CaseTurn::new(text(user_content))
    }
}

/// The calls that are expected; `None` if nothing is said about calls.
fn calls(data: Intermediate) -> Option<Vec<ExpectedCall>> {
    let events = data.invocation_events.map(|events| {
        let contents = events.into_iter().filter_map(|event| event.content);
        let parts = contents.flat_map(|content| content.parts.into_iter().flatten());
        parts.filter_map(|part| part.function_call).collect()
    });
    let calls: Vec<ToolUse> = data.tool_uses.or(events)?;
    let calls = calls.into_iter().map(|tool| ExpectedCall {
        name: tool.name,
        arguments: tool.args,
    });
    Some(calls.collect())
}

impl Rubric {
    fn text(&self) -> Option<&str> {
        self.rubric_content.as_ref()?.text_property.as_deref()
    }
}

fn text(content: Content) -> String {
    let parts = content.parts.into_iter().flatten();
    let visible = parts.filter(|part| part.thought != Some(true));
    visible.filter_map(|part| part.text).collect()
}

fn old_case(case: OldCase) -> Case {
    Case {
        name: case.name,
        state: state(case.initial_session),
        turns: case.data.into_iter().map(old_turn).collect(),
    }
}

fn old_turn(turn: OldTurn) -> CaseTurn {
    let calls = turn.expected_tool_use.map(|uses| {
        let calls = uses.into_iter().map(|tool| ExpectedCall {
            name: tool.tool_name,
            arguments: tool.tool_input,
        });
        calls.collect()
    });
    CaseTurn {
        output: turn.reference.filter(|reference| !reference.is_empty()),
        calls,
        ..CaseTurn::new(turn.query)
    }
}
