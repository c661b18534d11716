//! The record of one turn of an agent.

use petalflow::tool::ToolCall;
use petalflow_agent::Conversation;

use super::CaseTurn;

/// What an agent did in a turn, and what was expected of it: what a [`Scorer`](crate::Scorer) gets.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_eval::{Score, Scorer, Turn};
/// # use petalflow_agent::Agent;
/// # use petalflow_eval::{Case, Evaluation};
/// # use petalflow_llm::ScriptedModel;
///
/// /// Checks that the agent does not repeat the question.
/// struct NoRepetition;
///
/// #[async_trait]
/// impl Scorer for NoRepetition {
///     fn name(&self) -> &str {
///         "no repetition"
///     }
///
///     async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError> {
///         let repeats = turn.answer.contains(&turn.expected.input);
///         Ok(Some(if repeats { Score::fail("it repeats the question") } else { Score::PASS }))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let case = Case::new("france").turn("What is the capital of France?", |turn| turn);
/// # let evaluation = Evaluation::new([case]).scorer(NoRepetition);
/// # evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["Paris"])))).await.assert_passed();
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Turn<'a> {
    /// What was expected.
    pub expected: &'a CaseTurn,
    /// The answer.
    pub answer: &'a str,
    /// The calls of tools that the model made in the turn, in order.
    pub calls: &'a [ToolCall],
    /// The conversation after the turn.
    pub conversation: &'a Conversation,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        expected: &'a CaseTurn,
        answer: &'a str,
        calls: &'a [ToolCall],
        conversation: &'a Conversation,
    ) -> Self {
        Turn {
            expected,
            answer,
            calls,
            conversation,
        }
    }
}
