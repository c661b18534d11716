//! Scorers of the calls of tools.

use petalflow::tool::ToolCall;
use petalflow::{BoxError, async_trait};
use serde_json::Value;

use super::output::is_equal;
use super::{Score, Scorer};
use crate::{ExpectedCall, Turn};

/// A scorer of the calls of a turn, made by [`calls_in_order`], [`calls_in_any_order`] or [`exact_calls`].
///
/// ```
/// use petalflow_eval::Scorer as _;
/// use petalflow_eval::scorer::{self, Calls};
///
/// fn of_calls(is_strict: bool) -> Calls {
///     if is_strict { scorer::exact_calls() } else { scorer::calls_in_any_order() }
/// }
/// assert_eq!(of_calls(true).name(), "exact calls");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    name: &'static str,
    in_order: bool,
    no_others: bool,
}

/// Checks that the expected calls were made in this order. Other calls may be between them. The score is the part of the
/// expected calls that were made.
///
/// ```
/// use petalflow::tool::FuncTool;
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("order").turn("Order a book.", |turn| turn.any_call("find").any_call("order"));
/// let report = Evaluation::new([case]).scorer(scorer::calls_in_order()).run(|_| {
///     # let model = ScriptedModel::new([Reply::call("order", json!({})), Reply::call("find", json!({})), "Done.".into()]);
///     // The model calls `order` before `find`.
///     let tool = |name| FuncTool::new(name, "A tool of a shop.", |_: Value| async { Ok("done") });
///     Ok(Agent::new(model).tool(tool("find")).tool(tool("order")))
/// });
/// assert_eq!(report.await.cases[0].scores[0].value, 0.5);
/// # }
/// ```
pub fn calls_in_order() -> Calls {
    Calls {
        name: "calls in order",
        in_order: true,
        no_others: false,
    }
}

/// Checks that the expected calls were made, in any order. Other calls may be there. The score is the part of the expected
/// calls that were made.
///
/// ```
/// use petalflow::tool::FuncTool;
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("trip").turn("Plan a trip.", |turn| turn.any_call("weather").any_call("trains"));
/// let report = Evaluation::new([case]).scorer(scorer::calls_in_any_order()).run(|_| {
///     # let model = ScriptedModel::new([Reply::call("trains", json!({})), Reply::call("weather", json!({})), "Done.".into()]);
///     // The model calls `trains` before `weather`.
///     let tool = |name| FuncTool::new(name, "A tool for trips.", |_: Value| async { Ok("done") });
///     Ok(Agent::new(model).tool(tool("weather")).tool(tool("trains")))
/// });
/// report.await.assert_passed();
/// # }
/// ```
pub fn calls_in_any_order() -> Calls {
    Calls {
        name: "calls in any order",
        in_order: false,
        no_others: false,
    }
}

/// Checks that the expected calls were made in this order, and no others. The score is 0 or 1.
///
/// ```
/// use petalflow::tool::FuncTool;
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("weather").turn("Will it rain?", |turn| turn.any_call("weather"));
/// let report = Evaluation::new([case]).scorer(scorer::exact_calls()).run(|_| {
///     # let model = ScriptedModel::new([Reply::call("weather", json!({})), Reply::call("weather", json!({})), "No.".into()]);
///     // The model calls `weather` twice.
///     let weather = FuncTool::new("weather", "The weather.", |_: Value| async { Ok("sunny") });
///     Ok(Agent::new(model).tool(weather))
/// });
/// assert!(!report.await.passed());
/// # }
/// ```
pub fn exact_calls() -> Calls {
    Calls {
        name: "exact calls",
        in_order: true,
        no_others: true,
    }
}

#[async_trait]
impl Scorer for Calls {
    fn name(&self) -> &str {
        self.name
    }

    async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError> {
        let Some(wanted) = &turn.expected.calls else {
            return Ok(None);
        };
        let missing = if self.in_order {
            missing_in_order(wanted, turn.calls)
        } else {
            missing_in_any_order(wanted, turn.calls)
        };
        let made = || {
            listed(
                turn.calls
                    .iter()
                    .map(|call| (&*call.name, Some(&call.arguments))),
            )
        };
        if self.no_others || wanted.is_empty() {
            let fits = missing.is_empty() && turn.calls.len() == wanted.len();
            let wanted = || {
                listed(
                    wanted
                        .iter()
                        .map(|call| (&*call.name, call.arguments.as_ref())),
                )
            };
            let reason = || format!("the calls are {} and not {}", made(), wanted());
            // A turn that expects no call is also scored without `exact_calls`.
            return Ok(Some(Score::pass_if(fits, reason)));
        }
        let found = wanted.len() - missing.len();
        if missing.is_empty() {
            return Ok(Some(Score::PASS));
        }
        let missing = listed(
            missing
                .into_iter()
                .map(|call| (&*call.name, call.arguments.as_ref())),
        );
        let reason = format!("{missing} is missing in {}", made());
        Ok(Some(Score::part(found, wanted.len(), reason)))
    }
}

/// The expected calls that are not in the longest part of `wanted` that was made in order.
fn missing_in_order<'w>(wanted: &'w [ExpectedCall], made: &[ToolCall]) -> Vec<&'w ExpectedCall> {
    // `longest[w][m]`: the length of the longest common part of `wanted[w..]` and `made[m..]`.
    let mut longest = vec![vec![0_usize; made.len() + 1]; wanted.len() + 1];
    for (w, call) in wanted.iter().enumerate().rev() {
        for m in (0..made.len()).rev() {
            longest[w][m] = if call.is_made_by(&made[m]) {
                longest[w + 1][m + 1] + 1
            } else {
                longest[w + 1][m].max(longest[w][m + 1])
            };
        }
    }
    let (mut missing, mut m) = (Vec::new(), 0);
    for (w, call) in wanted.iter().enumerate() {
        while m < made.len() && longest[w][m] == longest[w][m + 1] {
            m += 1;
        }
        if m < made.len() && call.is_made_by(&made[m]) && longest[w][m] == longest[w + 1][m + 1] + 1
        {
            m += 1;
        } else {
            missing.push(call);
        }
    }
    missing
}

/// The expected calls that were not made. Each call that was made counts once; the stricter expectations choose first.
fn missing_in_any_order<'w>(
    wanted: &'w [ExpectedCall],
    made: &[ToolCall],
) -> Vec<&'w ExpectedCall> {
    let mut left: Vec<&ToolCall> = made.iter().collect();
    let (strict, any): (Vec<_>, Vec<_>) = wanted.iter().partition(|call| call.arguments.is_some());
    let mut missing = Vec::new();
    for call in strict.into_iter().chain(any) {
        match left.iter().position(|made| call.is_made_by(made)) {
            Some(index) => drop(left.remove(index)),
            None => missing.push(call),
        }
    }
    missing
}

impl ExpectedCall {
    fn is_made_by(&self, call: &ToolCall) -> bool {
        self.name == call.name
            && self
                .arguments
                .as_ref()
                .is_none_or(|wanted| match (wanted, &call.arguments) {
                    (Value::Object(wanted), Value::Object(made)) => {
                        wanted.iter().all(|(name, wanted)| {
                            made.get(name).is_some_and(|made| is_equal(wanted, made))
                        })
                    }
                    (wanted, made) => is_equal(wanted, made),
                })
    }
}

fn listed<'c>(calls: impl Iterator<Item = (&'c str, Option<&'c Value>)>) -> String {
    let calls: Vec<String> = calls
        .map(|(name, arguments)| match arguments {
            Some(arguments) => format!("{name}({arguments})"),
            None => format!("{name}(..)"),
        })
        .collect();
    format!("[{}]", calls.join(", "))
}
