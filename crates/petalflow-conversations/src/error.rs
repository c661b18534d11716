//! The errors of conversation flows.

use std::fmt;
use std::time::Duration;

use petalflow_document_model::conversations::MissingKey;
use petalflow_document_model::conversations::decision::DecisionError;
use petalflow_llm::LlmError;

/// Something that keeps a [`ConversationFlow`](crate::ConversationFlow) from being built.
///
/// ```
/// use petalflow_conversations::{BuildError, ConversationFlow};
/// # use petalflow_conversations::document::Conversation;
/// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// # let document = Conversation::from_config(&document).unwrap();
///
/// let errors = ConversationFlow::builder(document).build().unwrap_err();
/// assert_eq!(errors.0, [BuildError::NoModel]);
/// assert_eq!(errors.to_string(), "the conversation has no model: add `.model(..)`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no model.
    #[error("the conversation has no model: add `.model(..)`")]
    NoModel,
    /// A function of the document has no code.
    #[error(
        "function `{function}` of node `{node}` has no handler: add `.tool(..)` with a tool of the name `{handler}`"
    )]
    NoHandler {
        /// The node, or `global_functions`.
        node: String,
        /// The function.
        function: String,
        /// The name that its code has.
        handler: String,
    },
    /// Two tools have the same name.
    #[error(
        "two tools have the name `{0}`: which of them is the handler is not known. Remove one, or name it differently"
    )]
    AmbiguousHandler(String),
    /// No function of the document uses the tool.
    #[error("no function of the document uses the tool `{0}`. Remove it, or correct its name")]
    UnusedHandler(String),
    /// A timeout or a cancellation is set for a tool that does not exist.
    #[error(
        "a timeout or a cancellation is set for the tool `{0}`, which was not added: correct its name, or add `.tool(..)`"
    )]
    UnknownTool(String),
    /// An action of the document has no code.
    #[error("{place}: no handler has the name `{handler}`: add `.action(\"{handler}\", ..)`")]
    NoAction {
        /// The location of the action in the document.
        place: String,
        /// The name or the type.
        handler: String,
    },
    /// Two handlers of actions have the same name.
    #[error("two handlers of actions have the name `{0}`: remove one, or name it differently")]
    AmbiguousAction(String),
    /// No action of the document uses the handler.
    #[error("no action of the document uses the handler `{0}`. Remove it, or correct its name")]
    UnusedAction(String),
    /// A decision, a placeholder or a node cannot be used. Documents that were checked have none of these.
    #[error("{place}: {problem}")]
    Document {
        /// The location in the document.
        place: String,
        /// What is wrong.
        problem: String,
    },
}

/// All that keeps a [`ConversationFlow`](crate::ConversationFlow) from being built.
///
/// As text it is one line for each.
///
/// ```
/// use petalflow_conversations::{BuildError, BuildErrors};
///
/// let errors = BuildErrors(vec![BuildError::NoModel, BuildError::UnusedHandler("book".into())]);
/// assert_eq!(errors.to_string().lines().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildErrors(pub Vec<BuildError>);

/// The message, which is what `main` prints if it returns the error.
impl fmt::Debug for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}

/// Why a turn of a conversation fails.
///
/// ```
/// use petalflow_conversations::ConversationError;
///
/// let error = ConversationError::Ended("end".into());
/// assert_eq!(error.to_string(), "the conversation has ended at node `end`: begin a new one");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// The conversation has ended.
    #[error("the conversation has ended at node `{0}`: begin a new one")]
    Ended(String),
    /// The conversation is at a node that the document does not have.
    #[error(
        "the conversation is at node `{0}`, which the document does not have: the document has changed. Move the thread to a node of the new one, or use the old document"
    )]
    UnknownNode(String),
    /// The document has changed, and does not have the node where the conversation is.
    #[error(
        "the conversation is at node `{node}`, which it entered with version {entered} of the document `{document}`; version {now} does not have this node: continue with version {entered}, or move the thread to a node of the new one"
    )]
    Changed {
        /// The name of the document.
        document: String,
        /// The node where the conversation is.
        node: String,
        /// The version with which it entered the node.
        entered: String,
        /// The version of this program.
        now: String,
    },
    /// A placeholder of a prompt cannot be filled.
    #[error("node `{node}`: {error}")]
    Placeholder {
        /// The node.
        node: String,
        /// The error.
        error: MissingKey,
    },
    /// The model has failed.
    #[error("the model failed at node `{node}`")]
    Model {
        /// The node.
        node: String,
        /// The error.
        #[source]
        error: LlmError,
    },
    /// The model has been called too often in a turn.
    #[error(
        "the model was called {calls} times in one turn and still wants to call functions: raise `max_model_calls`, or give it a task that ends"
    )]
    TooManyModelCalls {
        /// The limit.
        calls: u32,
    },
    /// The handler of an action has failed.
    #[error("action `{kind}` of node `{node}` failed")]
    Action {
        /// The type of the action.
        kind: String,
        /// The node.
        node: String,
        /// The error.
        #[source]
        error: petalflow::BoxError,
    },
}

/// Why a result leads to no node. The model reads it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NextError {
    #[error("the result has no field `{0}`, by which the next step is chosen")]
    NoField(String),
    #[error(
        "the field `{0}` of the result is a list or an object, and cannot choose the next step"
    )]
    NoKey(String),
    #[error(transparent)]
    Decision(#[from] DecisionError),
    #[error("the code asks for node `{0}`, which does not exist")]
    UnknownNode(String),
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SummaryError {
    #[error("the model gave none within {0:?}")]
    Timeout(Duration),
    #[error("the model's summary is empty")]
    Empty,
    #[error(transparent)]
    Model(#[from] LlmError),
}
