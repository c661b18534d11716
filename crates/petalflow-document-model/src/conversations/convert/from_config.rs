//! From the declarative form.

use crate::conversations::config::{self, FlowConfig, Transition};
use crate::conversations::conversation::{
    ContextStrategy, Conversation, Function, Handler, Next, Node,
};
use crate::conversations::finding::Finding;
use crate::source::Severity;

impl Conversation {
    /// Reads a declarative document.
    ///
    /// # Errors
    ///
    /// The document has an error: all findings, with the warnings.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Conversation;
    ///
    /// let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert!(conversation.nodes["a"].respond_immediately);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn from_config(config: &FlowConfig) -> Result<Self, Vec<Finding>> {
        let findings = config.findings();
        if findings.iter().any(|it| it.severity == Severity::Error) {
            return Err(findings);
        }
        Ok(Conversation::of_config(config))
    }

    /// Reads a document without errors.
    pub(crate) fn of_config(config: &FlowConfig) -> Self {
        Conversation {
            name: None,
            initial_node: config.initial_node.clone(),
            nodes: config
                .nodes
                .iter()
                .map(|(name, it)| (name.clone(), node(it)))
                .collect(),
            global_functions: config.global_functions.iter().map(function).collect(),
        }
    }
}

fn node(node: &config::Node) -> Node {
    Node {
        label: None,
        role_message: node.role_message.clone(),
        role_messages: Vec::new(),
        task_messages: node.task_messages.clone(),
        functions: node.functions.iter().map(function).collect(),
        pre_actions: node.pre_actions.clone(),
        post_actions: node.post_actions.clone(),
        context_strategy: node.context_strategy.map(|strategy| match strategy {
            config::ContextStrategy::Append => ContextStrategy::Append,
            config::ContextStrategy::Reset => ContextStrategy::Reset,
        }),
        respond_immediately: node.respond_immediately,
    }
}

fn function(function: &config::Function) -> Function {
    Function {
        name: function.name.clone(),
        description: function.description.clone(),
        // Without code there are no arguments; with code, the code describes them.
        parameters: function.transition_only.then(Default::default),
        handler: if function.transition_only {
            Handler::Nothing
        } else {
            Handler::Named(function.name.clone())
        },
        next: match &function.transition_to {
            None => Next::Stay,
            Some(Transition::Node(node)) => Next::Node(node.clone()),
            Some(Transition::Branch(branch)) => Next::Branch(branch.clone()),
        },
    }
}
