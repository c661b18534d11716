//! Converts a conversation to a declarative document.

use super::{Converted, Drops};
use crate::conversations::config::{self, FlowConfig, Transition};
use crate::conversations::conversation::{
    ContextStrategy, Conversation, Function, Handler, Next, Node,
};
use crate::source::Pointer;

impl Conversation {
    /// Writes a declarative document.
    ///
    /// That form has descriptions and parameters of functions in code, and no conditions and no summaries. These are
    /// dropped and named. Of a decision the default stays. Several role messages become one, with an empty line
    /// between.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Conversation;
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Initial, "Start", []));
    /// let converted = Conversation::from_editor(&document).unwrap().to_config();
    /// assert_eq!(converted.document.initial_node, "start");
    /// assert!(converted.dropped.iter().any(|it| it.pointer == "/name"));
    /// ```
    pub fn to_config(&self) -> Converted<FlowConfig> {
        let mut drops = Drops::default();
        let root = Pointer::root();
        if let Some(name) = &self.name {
            drops.add(
                root.name("name"),
                format!("the form has no place for the flow's name '{name}'"),
            );
        }
        let nodes_at = root.name("nodes");
        let nodes = self.nodes.iter().map(|(name, it)| {
            let at = nodes_at.name(name);
            (name.clone(), node(it, &at, &mut drops))
        });
        let nodes = nodes.collect();
        let global_functions = functions(
            &self.global_functions,
            &root.name("global_functions"),
            &mut drops,
        );
        Converted {
            document: FlowConfig {
                initial_node: self.initial_node.clone(),
                nodes,
                global_functions,
            },
            dropped: drops.0,
        }
    }
}

fn node(node: &Node, at: &Pointer, drops: &mut Drops) -> config::Node {
    let roles = node
        .role_messages
        .iter()
        .map(|message| message.content.as_str());
    let roles: Vec<&str> = roles.filter(|content| !content.is_empty()).collect();
    let role_message = match &node.role_message {
        Some(message) => {
            if !roles.is_empty() {
                drops.add(
                    at.name("role_messages"),
                    "the node has a role message, which goes before them",
                );
            }
            Some(message.clone())
        }
        None if roles.is_empty() => None,
        None => Some(roles.join("\n\n")),
    };
    if let Some(label) = &node.label {
        drops.add(
            at.name("label"),
            format!("the form has no place for the title '{label}'"),
        );
    }
    config::Node {
        task_messages: node.task_messages.clone(),
        role_message,
        functions: functions(&node.functions, &at.name("functions"), drops),
        pre_actions: node.pre_actions.clone(),
        post_actions: node.post_actions.clone(),
        context_strategy: strategy(node.context_strategy.as_ref(), at, drops),
        respond_immediately: node.respond_immediately,
    }
}

fn strategy(
    strategy: Option<&ContextStrategy>,
    at: &Pointer,
    drops: &mut Drops,
) -> Option<config::ContextStrategy> {
    Some(match strategy? {
        ContextStrategy::Append => config::ContextStrategy::Append,
        ContextStrategy::Reset => config::ContextStrategy::Reset,
        ContextStrategy::ResetWithSummary { .. } => {
            drops.add(
                at.name("context_strategy"),
                "the summary: the messages before the node are removed without one",
            );
            config::ContextStrategy::Reset
        }
    })
}

fn functions(functions: &[Function], at: &Pointer, drops: &mut Drops) -> Vec<config::Function> {
    let functions = functions.iter().enumerate();
    functions
        .map(|(index, it)| function(it, &at.item(index), drops))
        .collect()
}

fn function(function: &Function, at: &Pointer, drops: &mut Drops) -> config::Function {
    let name = &function.name;
    let transition_to = match &function.next {
        Next::Stay => None,
        Next::Node(node) => Some(Transition::Node(node.clone())),
        Next::Branch(branch) => Some(Transition::Branch(branch.clone())),
        Next::Decision(decision) => {
            drops.add(
                at.name("next"),
                format!(
                    "the conditions of function '{name}': its default '{}' always follows. Write a branch over a field of its result",
                    decision.default
                ),
            );
            Some(Transition::Node(decision.default.clone()))
        }
    };
    let transition_only = function.handler == Handler::Nothing
        && function.description.is_some()
        && matches!(transition_to, Some(Transition::Node(_)));
    if !transition_only {
        let has_parameters = function
            .parameters
            .as_ref()
            .is_some_and(|it| !it.properties.is_empty());
        if function.description.is_some() || has_parameters {
            drops.add(
                at.name("parameters"),
                format!(
                    "the description and the parameters of function '{name}': its code describes it"
                ),
            );
        }
        if let Handler::Named(handler) = &function.handler
            && handler != name
        {
            drops.add(at.name("handler"), format!("function '{name}' has the handler '{handler}': its code has the function's name"));
        }
    }
    config::Function {
        name: name.clone(),
        transition_only,
        description: function.description.clone().filter(|_| transition_only),
        transition_to,
    }
}
