//! A loop of thinking and acting.

use petalflow::{Route, flow, node, state};
use petalflow_llm::ChatMessage;
use petalflow_llm::nodes::{Llm, Tools};

/// A conversation in which a model uses tools.
#[state]
#[derive(Clone, Debug)]
pub struct ReAct {
    /// The messages.
    #[key(input, append)]
    pub messages: Vec<ChatMessage>,
}

impl ReAct {
    /// The answer: the text of the last message.
    pub fn answer(&self) -> String {
        self.messages
            .last()
            .map(ChatMessage::text)
            .unwrap_or_default()
    }
}

/// What follows the model call.
#[derive(Route)]
enum Turn {
    /// Calls of the tools that the model asks for.
    Act,
    /// The answer.
    Answer,
}

#[node(ReAct)]
async fn choose(messages: &[ChatMessage]) -> Turn {
    let last = messages.last();
    if last.is_some_and(|last| last.calls().next().is_some()) {
        Turn::Act
    } else {
        Turn::Answer
    }
}

flow! {
    /// Lets a model think and call tools until it has an answer, as in `ReAct`. Its tools are the run's managed
    /// [`ToolSet`](petalflow::tool::ToolSet).
    ///
    /// An [`Agent`](crate::Agent) does the same and more. Use this flow as the start of your own flow.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_agent::prebuilt::ThinkAndAct;
    /// use petalflow::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(
    ///     /// The first one.
    ///     a: i64,
    ///     /// The second one.
    ///     b: i64,
    /// ) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::new([Reply::call("add", json!({ "a": 1, "b": 2 })), "It is 3.".into()]);
    /// let talk = ThinkAndAct::new()
    ///     .manage(Model::new(model))
    ///     .manage(tools![add])
    ///     .run(vec![ChatMessage::user("What is 1 + 2?")])
    ///     .await?;
    /// assert_eq!(talk.answer(), "It is 3.");
    /// # Ok(())
    /// # }
    /// ```
    pub ThinkAndAct(ReAct) {
        START -> think -> choose -> match { Act => act, Answer => END };
        act -> think;
        node think: Llm<ReActMessages> = Llm::new("").managed_tools();
        node act: Tools<ReActMessages> = Tools::managed();
    }
}
