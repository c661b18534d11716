//! The plan of an agent: the tool with which its model keeps it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::plan::{KEY, Plan, PlanChanged, PlanItem};
use crate::{Agent, Conversation};
use petalflow::BoxError;
use petalflow::event::CustomEvent;
use petalflow::tool::{FuncTool, ToolContext};

/// The name of the tool.
pub(super) const NAME: &str = "write_plan";
/// The maximum number of items.
const MAX_ITEMS: usize = 100;

impl Agent {
    /// Gives the agent a plan: a list of items that its model keeps with the tool `write_plan`.
    ///
    /// The plan is `plan` in the conversation's [state](Conversation::state), so it is stored and resumed with it;
    /// [`Plan::of`] reads it. Listeners get a [`PlanChanged`] for each change. Agents that this one calls have the same
    /// state: give only one of them a plan.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::deep::Plan;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let items = json!({ "items": [{ "text": "read", "state": "done" }, { "text": "write", "state": "active" }] });
    /// # let model = ScriptedModel::new([Reply::call("write_plan", items), "Half done.".into()]);
    /// let talk = Agent::new(model).plan().run("Read, then write.").await?;
    /// assert_eq!(Plan::of(&talk).to_string(), "[x] read\n[>] write");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn plan(self) -> Self {
        self.instructions_with(|call| Ok(instructions(call.conversation())))
            .tool(write_plan())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WritePlan {
    /// All items of the plan, in their order.
    items: Vec<PlanItem>,
}

fn write_plan() -> FuncTool {
    FuncTool::with_context(
        NAME,
        "Replaces the plan: the list of what is to be done, and how far each item is.",
        |arguments: WritePlan, cx| {
            let written = write(arguments.items, &cx);
            async move { written }
        },
    )
}

fn write(items: Vec<PlanItem>, cx: &ToolContext) -> Result<serde_json::Value, BoxError> {
    let count = items.len();
    if count > MAX_ITEMS {
        return Err(format!(
            "the plan has {count} items, and at most {MAX_ITEMS} are kept: put some together"
        )
        .into());
    }
    if items.iter().any(|item| item.text.trim().is_empty()) {
        return Err("an item of the plan has no text: say what is to be done".into());
    }
    let plan = Plan { items };
    cx.set_state(KEY, serde_json::to_value(&plan)?);
    cx.emit(CustomEvent::named("agent_plan", PlanChanged::new(plan)));
    Ok(json!({ "items": count }))
}

/// What the model reads about plans. A model that does not read the start of the conversation any more reads its plan, too.
fn instructions(conversation: &Conversation) -> String {
    let mut text = format!(
        "For work of several steps, write a plan with `{NAME}` before you begin. Write it again whenever an item begins or is \
         done."
    );
    let plan = Plan::of(conversation);
    if !conversation.cuts.is_empty() && !plan.items.is_empty() {
        text.push_str(" Your plan:\n\n");
        text.push_str(&plan.to_string());
    }
    text
}
