//! Planning: makes a model think before it acts.

use super::ModelCall;
use petalflow::{BoxError, async_trait};
use petalflow_llm::Part;
use petalflow_llm::message::Text;
use petalflow_llm::request::Effort;

/// Planner: makes a model plan before it acts. Implemented by [`Thinking`], [`PlanReAct`], and your own types.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{ModelCall, Planner};
/// use petalflow_llm::ScriptedModel;
///
/// /// Asks for a list of steps.
/// struct Steps;
///
/// #[async_trait]
/// impl Planner for Steps {
///     async fn plan(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
///         call.instruct("List the steps before you take them.");
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
/// assert_eq!(Agent::new(model).planner(Steps).run("?").await?.answer(), "List the steps before you take them.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Planner: Send + Sync + 'static {
    /// Changes the request, after the conversation was added to it.
    ///
    /// # Errors
    ///
    /// An error ends the step.
    async fn plan(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError>;

    /// Classifies the parts of an answer: plans become thoughts. For a streamed answer it also gets each piece
    /// ([`ModelCall::is_partial`]); [`ModelCall::so_far`] contains the earlier pieces.
    ///
    /// # Errors
    ///
    /// An error ends the step.
    async fn read(&self, call: &ModelCall<'_>, parts: Vec<Part>) -> Result<Vec<Part>, BoxError> {
        let _ = call;
        Ok(parts)
    }

    /// Whether the model reads a thought from [`read`](Self::read) again, as its own text. It does not read most
    /// thoughts again, but it must read a plan that it follows.
    fn is_plan(&self, thought: &str) -> bool {
        let _ = thought;
        false
    }
}

/// Planner for models with built-in thinking. The value sets the effort.
///
/// ```
/// use petalflow_agent::{Agent, extension::Thinking};
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::request::Effort;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::from_fn(|request| format!("{:?}", request.effort));
/// let agent = Agent::new(model).planner(Thinking(Effort::High));
/// assert_eq!(agent.run("?").await?.answer(), "Some(High)");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinking(pub Effort);

#[async_trait]
impl Planner for Thinking {
    async fn plan(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        call.request.effort = Some(self.0);
        Ok(())
    }
}

/// Planner for models without built-in thinking. The model writes a plan, then alternates between acting and
/// reasoning, and marks its answer. All text but the answer becomes thoughts, which the model reads again and the
/// user does not see.
///
/// ```
/// use petalflow_agent::{Agent, extension::PlanReAct};
/// use petalflow_llm::{Part, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::new(["/*PLANNING*/ 1. Remember. /*FINAL_ANSWER*/ It is Paris."]);
/// let talk = Agent::new(model).planner(PlanReAct).run("The capital of France?").await?;
/// assert_eq!(talk.answer(), "It is Paris.");
/// let thought = Part::Thought("/*PLANNING*/ 1. Remember. /*FINAL_ANSWER*/".into());
/// assert_eq!(talk.events[1].message.as_ref().unwrap().parts[0], thought);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanReAct;

/// The tags of the model's text. They are the same as in ADK.
const PLANS: [&str; 4] = [
    "/*PLANNING*/",
    "/*REPLANNING*/",
    "/*REASONING*/",
    "/*ACTION*/",
];
const ANSWER: &str = "/*FINAL_ANSWER*/";

const INSTRUCTION: &str = "Find out what you need with your tools rather than from memory, and answer in this order:\n\
    1. Write /*PLANNING*/ and a plan: a numbered list of steps that covers all that was asked, and names the tools that each \
    step takes.\n\
    2. Take the steps. Write /*ACTION*/ before you call tools, and /*REASONING*/ before you say what their results mean for \
    the next step. If the plan does not work out, write /*REPLANNING*/ and a new one that learns from what happened.\n\
    3. At the end write /*FINAL_ANSWER*/ and the answer: exact, and in the form that was asked for.\n\
    If you cannot answer with the tools that you have, say why in the answer, and ask for what you need. Do not call tools for \
    what you know from the conversation.";

#[async_trait]
impl Planner for PlanReAct {
    async fn plan(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        call.instruct(INSTRUCTION);
        Ok(())
    }

    async fn read(&self, call: &ModelCall<'_>, parts: Vec<Part>) -> Result<Vec<Part>, BoxError> {
        let before = call.is_partial().then(|| call.so_far());
        Ok(read(before, parts))
    }

    fn is_plan(&self, thought: &str) -> bool {
        let thought = thought.trim_start();
        thought.contains(ANSWER) || PLANS.iter().any(|tag| thought.starts_with(tag))
    }
}

/// Turns plans into thoughts. Drops the parts after the first calls, because the model made them up.
fn read(before: Option<&str>, parts: Vec<Part>) -> Vec<Part> {
    let mut read = Vec::with_capacity(parts.len() + 1);
    let mut acts = false;
    for part in parts {
        match part {
            // A call without a name is not a call.
            Part::Call(call) if call.name.is_empty() && before.is_none() => {}
            Part::Call(call) => {
                acts = true;
                read.push(Part::Call(call));
            }
            _ if acts => break,
            Part::Text(text) => divide(before, text, &mut read),
            other => read.push(other),
        }
    }
    read
}

/// Splits text into thoughts, up to the tag of the answer, and the answer.
fn divide(before: Option<&str>, text: Text, into: &mut Vec<Part>) {
    let piece = before.is_some();
    let before = before.unwrap_or_default();
    // A tag may have started in an earlier piece.
    let all = format!("{before}{}", text.text);
    let thought = match all.rfind(ANSWER) {
        Some(at) => (at + ANSWER.len()).max(before.len()) - before.len(),
        None if begins_with_plan(&all, piece) => text.text.len(),
        None => 0,
    };
    if thought == 0 {
        into.push(Part::Text(text));
        return;
    }
    let (thought, answer) = text.text.split_at(thought);
    into.push(Part::Thought(thought.into()));
    let answer = if piece { answer } else { answer.trim_start() };
    if !answer.is_empty() {
        into.push(Part::Text(Text {
            text: answer.to_string(),
            signature: text.signature,
            origin: text.origin,
        }));
    }
}

/// Whether a text begins with the tag of a plan. For a piece: whether it may begin with one.
fn begins_with_plan(text: &str, piece: bool) -> bool {
    let text = text.trim_start();
    PLANS
        .iter()
        .any(|tag| text.starts_with(tag) || (piece && !text.is_empty() && tag.starts_with(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow::tool::ToolCall;

    fn call(name: &str) -> Part {
        Part::Call(ToolCall {
            name: name.into(),
            ..ToolCall::default()
        })
    }

    #[test]
    fn a009_plans_are_thoughts_and_invented_results_are_left_out() {
        let plan = || Part::text("/*PLANNING*/ look");
        let thought = || Part::Thought("/*PLANNING*/ look".into());
        let parts = vec![
            plan(),
            call(""),
            call("a"),
            call("b"),
            Part::text("it said 3"),
            call("c"),
        ];
        assert_eq!(read(None, parts), [thought(), call("a"), call("b")]);
        let answer = Part::text("/*REASONING*/ so /*FINAL_ANSWER*/ 3");
        let read_answer = [
            Part::Thought("/*REASONING*/ so /*FINAL_ANSWER*/".into()),
            Part::text("3"),
        ];
        assert_eq!(read(None, vec![answer]), read_answer);
        let plain = || vec![Part::text("/ is a sign, and /*PLANNING*/ a mark")];
        assert_eq!(read(None, plain()), plain());
    }

    #[test]
    fn a009_pieces_are_divided_wherever_they_are_cut() {
        let whole = " /*PLANNING*/ grün /*FINAL_ANSWER*/ 3";
        for cut in (1..whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
            let (one, two) = whole.split_at(cut);
            let mut pieces = read(Some(""), vec![Part::text(one)]);
            pieces.extend(read(Some(one), vec![Part::text(two)]));
            let answer = pieces.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.text.trim()),
                _ => None,
            });
            assert_eq!(answer.collect::<String>(), "3", "cut at {cut}");
        }
    }
}
