//! The model of a conversation flow, independent of the form of its document.

use indexmap::IndexMap;
use serde::Serialize;

use crate::conversations::action::Action;
use crate::conversations::config::Branch;
use crate::conversations::decision::Operator;
use crate::conversations::message::Message;
use crate::conversations::parameters::Parameters;

/// A conversation flow that was checked.
///
/// It has what any of the forms of documents can say.
///
/// ```
/// use petalflow_document_model::conversations::{Source, check};
///
/// let source = Source::new("greeting.flow.yaml", "
/// initial_node: start
/// nodes:
///   start: { task_messages: [{ role: developer, content: Greet the caller. }] }
/// ");
/// let conversation = check(&source)?.conversation;
/// assert_eq!(conversation.initial_node, "start");
/// assert_eq!(conversation.nodes["start"].task_messages[0].role, "developer");
/// # Ok::<(), petalflow_document_model::conversations::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversation {
    /// What the flow is called.
    pub name: Option<String>,
    /// The node in which the conversation starts.
    pub initial_node: String,
    /// The nodes by name.
    pub nodes: IndexMap<String, Node>,
    /// The functions that every node offers.
    pub global_functions: Vec<Function>,
}

/// A step of the conversation.
///
/// ```
/// use petalflow_document_model::conversations::{Message, Node};
///
/// let node = Node { task_messages: vec![Message::new("developer", "Greet the caller.")], ..Node::default() };
/// assert!(node.respond_immediately);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The title, where it is not the name.
    pub label: Option<String>,
    /// Who the model is. It holds until another node sets its own.
    pub role_message: Option<String>,
    /// Messages that go before the task at this node only.
    pub role_messages: Vec<Message>,
    /// What the model should do here.
    pub task_messages: Vec<Message>,
    /// The functions that this node offers, besides the global ones.
    pub functions: Vec<Function>,
    /// What happens before the model responds.
    pub pre_actions: Vec<Action>,
    /// What happens after the model responded.
    pub post_actions: Vec<Action>,
    /// What entering the node does with the messages before it. Without it the conversation's own setting holds.
    pub context_strategy: Option<ContextStrategy>,
    /// Whether the model responds as soon as the node is entered.
    pub respond_immediately: bool,
}

impl Default for Node {
    fn default() -> Self {
        Node {
            label: None,
            role_message: None,
            role_messages: Vec::new(),
            task_messages: Vec::new(),
            functions: Vec::new(),
            pre_actions: Vec::new(),
            post_actions: Vec::new(),
            context_strategy: None,
            respond_immediately: true,
        }
    }
}

/// What entering a node does with the messages before it.
///
/// ```
/// # use petalflow_document_model::conversations::Conversation;
/// # let config = serde_json::from_str(r#"{ "initial_node": "start", "nodes": {
/// #     "start": { "task_messages": [{ "role": "developer", "content": "Ask for a name." }],
/// #         "functions": [{ "name": "save", "transition_to": "end" }, { "name": "repeat" }] },
/// #     "end": { "task_messages": [], "context_strategy": "reset" } } }"#)?;
/// use petalflow_document_model::conversations::ContextStrategy;
///
/// let conversation = Conversation::from_config(&config).unwrap();
/// assert_eq!(conversation.nodes["end"].context_strategy, Some(ContextStrategy::Reset));
/// assert_eq!(conversation.nodes["start"].context_strategy, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextStrategy {
    /// Keeps them.
    Append,
    /// Removes them.
    Reset,
    /// Replaces them by a summary that the model writes.
    ResetWithSummary {
        /// The instruction to the model for the summary.
        prompt: String,
    },
}

/// A function that a node offers to the model.
///
/// ```
/// use petalflow_document_model::conversations::{Function, Handler, Next};
///
/// let goodbye = Function {
///     name: "goodbye".into(),
///     description: Some("The caller is done.".into()),
///     parameters: None,
///     handler: Handler::Nothing,
///     next: Next::Node("end".into()),
/// };
/// assert_eq!(goodbye.next.targets(), ["end"]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Function {
    /// Its name, for the model.
    pub name: String,
    /// What it is for. Without it the code describes itself.
    pub description: Option<String>,
    /// The schema of its arguments. Without it the code describes itself.
    pub parameters: Option<Parameters>,
    /// Whether the program has code for it.
    pub handler: Handler,
    /// The node that follows.
    pub next: Next,
}

/// The code of a function.
///
/// ```
/// # use petalflow_document_model::conversations::Conversation;
/// # let config = serde_json::from_str(r#"{ "initial_node": "start", "nodes": {
/// #     "start": { "task_messages": [{ "role": "developer", "content": "Ask for a name." }],
/// #         "functions": [{ "name": "save", "transition_to": "end" }, { "name": "repeat" }] },
/// #     "end": { "task_messages": [], "context_strategy": "reset" } } }"#)?;
/// use petalflow_document_model::conversations::Handler;
///
/// let conversation = Conversation::from_config(&config).unwrap();
/// let save = conversation.functions("start").next().unwrap();
/// assert_eq!(save.handler, Handler::Named("save".into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Handler {
    /// The code with this name.
    Named(String),
    /// No code: the function only leads to the node that follows.
    Nothing,
}

/// The node that follows a function.
///
/// ```
/// # use petalflow_document_model::conversations::Conversation;
/// # let config = serde_json::from_str(r#"{ "initial_node": "start", "nodes": {
/// #     "start": { "task_messages": [{ "role": "developer", "content": "Ask for a name." }],
/// #         "functions": [{ "name": "save", "transition_to": "end" }, { "name": "repeat" }] },
/// #     "end": { "task_messages": [], "context_strategy": "reset" } } }"#)?;
/// use petalflow_document_model::conversations::Next;
///
/// let conversation = Conversation::from_config(&config).unwrap();
/// let next: Vec<_> = conversation.functions("start").map(|function| &function.next).collect();
/// assert_eq!(next, [&Next::Node("end".into()), &Next::Stay]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The conversation stays in its node.
    Stay,
    /// Always this one.
    Node(String),
    /// The one that a field of the result chooses.
    Branch(Branch),
    /// The one of the first condition that is true of the result.
    Decision(Decision),
}

/// Conditions on a result.
///
/// ```
/// use petalflow_document_model::conversations::decision::Operator;
/// use petalflow_document_model::conversations::{Condition, Decision, Next};
///
/// let adult = Condition { operator: Operator::Greater, value: "17".into(), node: "adult".into() };
/// let decision = Decision { action: "result = age".into(), conditions: vec![adult], default: "minor".into() };
/// assert_eq!(Next::Decision(decision).targets(), ["adult", "minor"]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Code in Python that computed the result. It is never run.
    pub action: String,
    /// The conditions, tried in order.
    pub conditions: Vec<Condition>,
    /// The node if no condition is true.
    pub default: String,
}

/// A condition on a result.
///
/// ```
/// use petalflow_document_model::conversations::Condition;
/// use petalflow_document_model::conversations::decision::Operator;
///
/// let condition = Condition { operator: Operator::In, value: "['child', 'teen']".into(), node: "minor".into() };
/// assert_eq!(condition.operator.as_str(), "in");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The comparison.
    pub operator: Operator,
    /// A literal of Python.
    pub value: String,
    /// The node if the condition is true.
    pub node: String,
}

impl Next {
    /// The names of the nodes that can follow.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Next;
    ///
    /// assert_eq!(Next::Node("end".into()).targets(), ["end"]);
    /// assert!(Next::Stay.targets().is_empty());
    /// ```
    pub fn targets(&self) -> Vec<&str> {
        match self {
            Next::Stay => Vec::new(),
            Next::Node(node) => vec![node],
            Next::Branch(branch) => {
                let cases = branch.cases.values().chain(&branch.default);
                cases.map(String::as_str).collect()
            }
            Next::Decision(decision) => {
                let conditions = decision.conditions.iter().map(|it| it.node.as_str());
                conditions.chain([decision.default.as_str()]).collect()
            }
        }
    }
}

impl Conversation {
    /// Returns the functions that a node offers: the global ones first.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [],
    /// #     "functions": [{ "name": "b" }] } }, "global_functions": [{ "name": "help" }] }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// let names: Vec<_> = conversation.functions("a").map(|function| function.name.as_str()).collect();
    /// assert_eq!(names, ["help", "b"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn functions(&self, node: &str) -> impl Iterator<Item = &Function> {
        let own = self.nodes.get(node).map(|node| node.functions.as_slice());
        self.global_functions.iter().chain(own.unwrap_or_default())
    }
}
