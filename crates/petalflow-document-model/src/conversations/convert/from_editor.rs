//! From the editor's form.

use indexmap::IndexMap;

use crate::conversations::conversation::{
    Condition, ContextStrategy, Conversation, Decision, Function, Handler, Next, Node,
};
use crate::conversations::editor::{self, EditorDocument, Strategy};
use crate::conversations::finding::Finding;
use crate::conversations::message::Message;
use crate::conversations::parameters::Parameters;
use crate::source::Severity;

impl Conversation {
    /// Reads a document of the editor.
    ///
    /// A function without parameters and without a decision has no code, unless a field `handler` names it: it only
    /// leads to the node that follows. The fields that [`to_editor`](Self::to_editor) adds are read.
    ///
    /// # Errors
    ///
    /// A program cannot run the document: all findings, with the warnings.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Conversation;
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Initial, "Start", []));
    /// let conversation = Conversation::from_editor(&document).unwrap();
    /// assert_eq!(conversation.initial_node, "start");
    /// ```
    pub fn from_editor(document: &EditorDocument) -> Result<Self, Vec<Finding>> {
        let findings = document.findings_for_run();
        if findings.iter().any(|it| it.severity == Severity::Error) {
            return Err(findings);
        }
        Ok(Conversation::of_editor(document))
    }

    /// Reads a document. In one with errors, nodes can have the same name: their functions are joined.
    pub(crate) fn of_editor(document: &EditorDocument) -> Self {
        let mut nodes: IndexMap<String, Node> = IndexMap::new();
        for it in &document.nodes {
            let known = nodes.entry(it.id.clone()).or_default();
            let functions = std::mem::take(&mut known.functions);
            *known = node(it);
            known.functions.splice(0..0, functions);
        }
        let globals = document.global_functions.iter().flatten();
        Conversation {
            name: Some(document.meta.name.clone()),
            initial_node: document.initial().unwrap_or_default().into(),
            nodes,
            global_functions: globals.map(function).collect(),
        }
    }
}

fn node(node: &editor::Node) -> Node {
    let data = &node.data;
    let mut role_messages = messages(data.role_messages.as_ref());
    let role_message = data.role_message();
    if role_message.is_some() {
        role_messages.remove(0);
    }
    Node {
        label: data.label.clone(),
        role_message: role_message.map(str::to_owned),
        role_messages,
        task_messages: messages(data.task_messages.as_ref()),
        functions: data.functions().iter().map(function).collect(),
        pre_actions: data.pre_actions.clone().unwrap_or_default(),
        post_actions: data.post_actions.clone().unwrap_or_default(),
        context_strategy: data.context_strategy.as_ref().map(|it| match it.strategy {
            Strategy::Append => ContextStrategy::Append,
            Strategy::Reset => ContextStrategy::Reset,
            Strategy::ResetWithSummary => ContextStrategy::ResetWithSummary {
                prompt: it.summary_prompt.clone().unwrap_or_default(),
            },
        }),
        respond_immediately: data.respond_immediately.unwrap_or(true),
    }
}

fn messages(messages: Option<&Vec<editor::Message>>) -> Vec<Message> {
    let messages = messages.into_iter().flatten();
    messages
        .map(|message| Message::new(message.role.as_str(), &message.content))
        .collect()
}

fn function(function: &editor::Function) -> Function {
    let parameters = function.parameters();
    let next = match (&function.decision, function.next_node_id.as_deref()) {
        (Some(decision), _) => match function.branch(decision) {
            Some(branch) => Next::Branch(branch),
            None => Next::Decision(Decision {
                action: decision.action.clone(),
                conditions: decision.conditions.iter().map(condition).collect(),
                default: decision.default_next_node_id.clone(),
            }),
        },
        (None, None | Some("")) => Next::Stay,
        (None, Some(node)) => Next::Node(node.into()),
    };
    let handler = match (function.handler(), &next) {
        (Some(handler), _) => Handler::Named(handler.into()),
        (None, Next::Node(_)) if parameters.properties.is_empty() => Handler::Nothing,
        (None, _) => Handler::Named(function.name.clone()),
    };
    Function {
        name: function.name.clone(),
        description: Some(function.description.clone()),
        parameters: Some(parameters),
        handler,
        next,
    }
}

fn condition(condition: &editor::Condition) -> Condition {
    Condition {
        operator: condition.operator,
        value: condition.value.clone(),
        node: condition.next_node_id.clone(),
    }
}

impl editor::Function {
    /// The parameters as all forms have them.
    pub(crate) fn parameters(&self) -> Parameters {
        let properties = self.properties.iter().flatten();
        Parameters {
            properties: properties
                .map(|(name, it)| (name.clone(), schema(it)))
                .collect(),
            required: self.required.clone().unwrap_or_default(),
        }
    }
}

fn schema(property: &editor::Property) -> serde_json::Map<String, serde_json::Value> {
    // A struct of JSON values always becomes an object.
    match serde_json::to_value(property) {
        Ok(serde_json::Value::Object(mut schema)) => {
            if property.kind == editor::Property::ANY {
                schema.remove("type");
            }
            schema
        }
        _ => serde_json::Map::new(),
    }
}
