//! One tool call, as callbacks see it.

use std::fmt;

use serde_json::Value;

use super::position::{Position, call_methods};
use petalflow::tool::{Actions, ToolCall};

/// A tool call, as callbacks see it. The callbacks before the tool may change its arguments.
///
/// ```
/// # use petalflow_agent::Agent;
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use petalflow::tool::FuncTool;
/// # use serde_json::{Value, json};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("search", json!({})), "done".into()]);
/// # let search = FuncTool::new("search", "Searches.", |_: Value| async { Ok("found") });
/// let agent = Agent::new(model).tool(search).before_tool(|step| {
///     Ok((step.call().name == "search").then(|| json!("nothing is searched on Sundays")))
/// });
/// let talk = agent.run("search").await?;
/// let result = talk.events[2].message.as_ref().unwrap().tool_results().next().unwrap();
/// assert_eq!(result.content, "nothing is searched on Sundays");
/// # Ok(())
/// # }
/// ```
pub struct ToolStep<'a> {
    /// The arguments of the tool.
    pub arguments: Value,
    /// The actions of the call besides its result.
    pub actions: Actions,
    position: Position<'a>,
    call: &'a ToolCall,
}

impl<'a> ToolStep<'a> {
    pub(crate) fn new(position: Position<'a>, call: &'a ToolCall) -> Self {
        ToolStep {
            arguments: call.arguments.clone(),
            actions: Actions::default(),
            position,
            call,
        }
    }

    call_methods!(actions.state_delta);

    /// The call as the model made it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }
}

impl fmt::Debug for ToolStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolStep")
            .field("agent", &self.agent())
            .field("call", &self.call)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
