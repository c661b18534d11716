//! The modes of an agent in a conversation: chat, task, or single turn.

/// How an agent takes part in a conversation.
///
/// ```
/// use petalflow_agent::{Agent, Mode};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([
/// #     Reply::call("translator", json!({ "request": "good morning, in Japanese" })),
/// #     "ohayo".into(),
/// #     "They say ohayo.".into(),
/// # ]);
/// let translator = Agent::named("translator").description("Translates words.").mode(Mode::SingleTurn);
/// let guide = Agent::new(model).name("guide").sub_agent(translator);
/// assert_eq!(guide.run("What do people in Kyoto say in the morning?").await?.answer(), "They say ohayo.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The agent has the conversation: other agents transfer it to this agent, and this agent may transfer it to another.
    #[default]
    Chat,
    /// Another agent gives it a task. It works on the task, asks the user if necessary, and reports the result.
    Task,
    /// It answers one question of another agent.
    SingleTurn,
}
