//! Conversations as diagrams.

mod dot;
mod ids;
mod mermaid;
mod model;
#[cfg(feature = "picture")]
mod svg;

use crate::conversations::conversation::Conversation;
use model::Diagram;

impl Conversation {
    /// Returns the conversation as a Mermaid flowchart. A decision or a branch is a diamond, and a function is an edge with
    /// its name.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "hello", "nodes": { "hello": { "task_messages": [],
    /// #     "post_actions": [{ "type": "end_conversation" }] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert_eq!(
    ///     conversation.mermaid(),
    ///     "graph TD\n    START([START])\n    END([END])\n    hello[\"hello\"]\n    START --> hello\n    hello --> END\n",
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn mermaid(&self) -> String {
        mermaid::mermaid(&Diagram::of(self))
    }

    /// Returns the conversation in the DOT language of Graphviz.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert!(conversation.dot().contains("START -> \"a\";"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn dot(&self) -> String {
        dot::dot(&Diagram::of(self))
    }
}
