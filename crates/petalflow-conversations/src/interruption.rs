//! Interruptions by the person.

use tokio::sync::watch;

/// Tells the functions that run now that the person interrupts.
///
/// A function continues, unless the program has set
/// [`cancel_on_interruption`](crate::ConversationBuilder::cancel_on_interruption) for it. The turn continues in any case. To
/// stop it, cancel the run. Each conversation has an interruption of its own: a managed value of its launch.
///
/// ```
/// use petalflow_conversations::{ConversationFlow, Interruption};
/// # use petalflow_conversations::document::Conversation;
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// # let document = Conversation::from_config(&document).unwrap();
/// # let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."])).build()?;
/// let interruption = Interruption::new();
/// let turn = flow.launch().manage(interruption.clone()).run(());
/// // Somewhere else, when the person begins to speak:
/// interruption.interrupt();
/// assert_eq!(turn.await?.answer(), "Hello.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interruption(watch::Sender<()>);

impl Interruption {
    /// Creates an interruption. Clones share it.
    pub fn new() -> Self {
        Interruption::default()
    }

    /// Interrupts the functions that run now. Those that begin later are not interrupted.
    pub fn interrupt(&self) {
        self.0.send_replace(());
    }

    /// Waits for the next interruption.
    pub(crate) async fn interrupted(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.subscribe().changed().await;
    }
}
