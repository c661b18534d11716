//! What decides whether a call of a tool is made.

use super::ToolStep;

/// What happens to a call: see [`Approvals`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The call is made, also if its tool asks for a confirmation. What the provider of the model warns of, before an action at a
    /// [computer](crate::computer), must be confirmed all the same.
    Allow,
    /// A person must confirm the call, and reads this question.
    Ask(String),
    /// The call is not made, and the model reads this reason. A person cannot confirm it.
    Deny(String),
}

/// Decides which calls of an agent are made, wait for a person, or are refused:
/// [`Agent::approvals`](crate::Agent::approvals).
///
/// It is asked about calls of tools and of agents that are tools, after the callbacks before the tool: it sees the
/// arguments with which the call would be made. A call that a person has confirmed is asked about again, so that what is
/// denied stays denied.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{Approval, Approvals, ToolStep};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// /// Returns money.
/// #[tool]
/// fn refund(euros: u64) -> String {
///     format!("returned {euros} euros")
/// }
///
/// struct SmallSums;
///
/// impl Approvals for SmallSums {
///     fn decide(&self, step: &ToolStep<'_>) -> Option<Approval> {
///         let euros = step.arguments["euros"].as_u64()?;
///         (euros > 50).then(|| Approval::Ask(format!("Return {euros} euros?")))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("refund", json!({ "euros": 80 }))]);
/// let agent = Agent::new(model).tool(refund {}).approvals(SmallSums);
/// let talk = agent.run("I want 80 euros back.").await?;
/// assert!(talk.to_string().ends_with("Return 80 euros?"));
/// # Ok(())
/// # }
/// ```
pub trait Approvals: Send + Sync + 'static {
    /// The decision about a call; `None` leaves it to the next [`Approvals`], and at last to the tool itself.
    fn decide(&self, step: &ToolStep<'_>) -> Option<Approval>;
}
