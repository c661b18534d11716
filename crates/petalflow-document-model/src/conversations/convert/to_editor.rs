//! Converts a conversation to a document of the editor.

use std::collections::{HashMap, VecDeque};

use serde_json::Map;

use super::{Converted, Drops};
use crate::conversations::conversation::{
    ContextStrategy, Conversation, Decision, Function, Handler, Next, Node,
};
use crate::conversations::editor::{self, EditorDocument, NodeType, Point, Role, Strategy};
use crate::conversations::message::Message;
use crate::conversations::parameters::Parameters;
use crate::source::Pointer;

/// The distance between columns and rows, in pixels.
const COLUMN: i32 = 300;
const ROW: i32 = 150;

impl Conversation {
    /// Writes a document of the editor, with a column for each distance from the first node.
    ///
    /// A branch over a field becomes a decision with conditions on `result`, and a role message becomes a list of one.
    /// Where that says less, the document also has what the editor ignores and [`from_editor`](Self::from_editor) reads:
    /// `transition_to` and `handler` of a function, `role_message` of a node. What the form has no place for is dropped
    /// and named.
    ///
    /// ```
    /// use petalflow_document_model::conversations::{Conversation, editor::NodeType};
    ///
    /// let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let document = Conversation::from_config(&config).unwrap().to_editor().document;
    /// assert_eq!(document.nodes[0].kind, NodeType::Initial);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_editor(&self) -> Converted<EditorDocument> {
        let mut drops = Drops::default();
        let mut document = EditorDocument::new(self.name.as_deref().unwrap_or("Conversation"));
        let places = self.places();
        let nodes_at = Pointer::root().name("nodes");
        for (name, node) in &self.nodes {
            let data = data(name, node, &nodes_at.name(name), &mut drops);
            let kind = match data.derived_type() {
                _ if *name == self.initial_node => NodeType::Initial,
                NodeType::End => NodeType::End,
                _ => NodeType::Node,
            };
            let (column, row) = places.get(name.as_str()).copied().unwrap_or_default();
            document.nodes.push(editor::Node {
                id: name.clone(),
                kind,
                position: Point::new((column * COLUMN).into(), (row * ROW).into()),
                data,
                extra: Map::new(),
            });
        }
        let at = Pointer::root().name("global_functions");
        document.global_functions = functions(&self.global_functions, &at, &mut drops);
        for (index, global) in self.global_functions.iter().enumerate() {
            if global.next != Next::Stay {
                let message = format!(
                    "the editor does not draw the node after the global function '{}'",
                    global.name
                );
                drops.add(at.item(index).name("next"), message);
            }
        }
        document.edges = document
            .derived_edges()
            .into_iter()
            .filter(|edge| !edge.of_decision)
            .map(|edge| editor::Edge {
                id: edge.id,
                source: edge.source,
                target: edge.target,
                label: edge.label,
                extra: Map::new(),
            })
            .collect();
        Converted {
            document,
            dropped: drops.0,
        }
    }

    /// The column and the row of each node: columns by the distance from the first node, rows by the order in a column.
    fn places(&self) -> HashMap<&str, (i32, i32)> {
        let mut column: HashMap<&str, i32> = HashMap::from([(self.initial_node.as_str(), 0)]);
        let mut queue = VecDeque::from([self.initial_node.as_str()]);
        while let Some(name) = queue.pop_front() {
            let next = column[name] + 1;
            let functions = self.nodes.get(name).map(|node| node.functions.as_slice());
            for target in functions
                .unwrap_or_default()
                .iter()
                .flat_map(|it| it.next.targets())
            {
                if !column.contains_key(target) {
                    column.insert(target, next);
                    queue.push_back(target);
                }
            }
        }
        // Nodes that nothing leads to are in a column of their own at the end.
        let last = column.values().max().copied().unwrap_or_default() + 1;
        let mut rows: HashMap<i32, i32> = HashMap::new();
        let names = self.nodes.keys().map(String::as_str);
        names
            .map(|name| {
                let column = column.get(name).copied().unwrap_or(last);
                let row = rows.entry(column).or_default();
                *row += 1;
                (name, (column, *row - 1))
            })
            .collect()
    }
}

fn data(name: &str, node: &Node, at: &Pointer, drops: &mut Drops) -> editor::NodeData {
    let role = node
        .role_message
        .iter()
        .map(|text| Message::new("system", text));
    let roles: Vec<Message> = role.chain(node.role_messages.iter().cloned()).collect();
    let mut data = editor::NodeData {
        label: Some(node.label.clone().unwrap_or_else(|| name.into())),
        role_messages: messages(&roles, &at.name("role_messages"), drops),
        task_messages: messages(&node.task_messages, &at.name("task_messages"), drops),
        functions: functions(&node.functions, &at.name("functions"), drops),
        pre_actions: some(node.pre_actions.clone()),
        post_actions: some(node.post_actions.clone()),
        context_strategy: node.context_strategy.as_ref().map(strategy),
        respond_immediately: (!node.respond_immediately).then_some(false),
        extra: Map::new(),
    };
    if let Some(text) = &node.role_message {
        data.set_role_message(text);
    }
    data
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn messages(messages: &[Message], at: &Pointer, drops: &mut Drops) -> Option<Vec<editor::Message>> {
    let messages = messages.iter().enumerate().map(|(index, message)| {
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => {
                drops.add(
                    at.item(index).name("role"),
                    format!("the role '{other}': the editor has system, user and assistant, and the message is of system"),
                );
                Role::System
            }
        };
        editor::Message {
            role,
            content: message.content.clone(),
            extra: Map::new(),
        }
    });
    some(messages.collect())
}

fn strategy(strategy: &ContextStrategy) -> editor::ContextStrategy {
    let (strategy, summary_prompt) = match strategy {
        ContextStrategy::Append => (Strategy::Append, None),
        ContextStrategy::Reset => (Strategy::Reset, None),
        ContextStrategy::ResetWithSummary { prompt } => {
            (Strategy::ResetWithSummary, Some(prompt.clone()))
        }
    };
    editor::ContextStrategy {
        strategy,
        summary_prompt,
        extra: Map::new(),
    }
}

fn functions(
    functions: &[Function],
    at: &Pointer,
    drops: &mut Drops,
) -> Option<Vec<editor::Function>> {
    let functions = functions.iter().enumerate();
    some(
        functions
            .map(|(index, it)| function(it, &at.item(index), drops))
            .collect(),
    )
}

fn function(function: &Function, at: &Pointer, drops: &mut Drops) -> editor::Function {
    let name = &function.name;
    let (next_node_id, decision) = match &function.next {
        Next::Stay => (None, None),
        Next::Node(node) => (Some(node.clone()), None),
        Next::Decision(decision) => (None, Some(editor_decision(decision))),
        Next::Branch(branch) => (None, editor::Decision::of_branch(branch)),
    };
    if function.parameters.is_none() {
        drops.add(
            at.name("parameters"),
            format!("the parameters of function '{name}' are in its code, and not in the document"),
        );
    }
    if let Some(parameters) = &function.parameters {
        drop_types(name, parameters, at, drops);
    }
    let mut written = plain(function, next_node_id, decision);
    if let Next::Branch(branch) = &function.next {
        written.set_branch(branch);
        if branch.default.is_none() {
            drops.add(
                at.name("next"),
                format!("the branch of function '{name}' stays in its node for other values: the editor needs a default, and shows the last case"),
            );
        }
    }
    let has_no_code = matches!(function.next, Next::Node(_)) && written.properties.is_none();
    match &function.handler {
        Handler::Named(handler) if handler != name || has_no_code => written.set_handler(handler),
        _ => {}
    }
    written
}

/// Reports the types of parameters that the editor cannot say. An optional parameter that may be null can be left out
/// instead.
fn drop_types(function: &str, parameters: &Parameters, at: &Pointer, drops: &mut Drops) {
    for (parameter, schema) in &parameters.properties {
        let kinds = schema.get("type").and_then(serde_json::Value::as_array);
        let kinds = kinds.into_iter().flatten();
        let kinds: Vec<&str> = kinds.filter_map(serde_json::Value::as_str).collect();
        let is_optional = !parameters.required.contains(parameter);
        let dropped = match kinds.as_slice() {
            [_, _] if kinds.contains(&"null") => !is_optional,
            kinds => kinds.len() > 1,
        };
        if dropped {
            let message = format!(
                "the parameter '{parameter}' of function '{function}' has the types {}: the editor has one, here '{}'",
                kinds.join(", "),
                one_type(schema.get("type"))
            );
            drops.add(
                at.name("parameters").name("properties").name(parameter),
                message,
            );
        }
    }
}

fn plain(
    function: &Function,
    next_node_id: Option<String>,
    decision: Option<editor::Decision>,
) -> editor::Function {
    let parameters = function.parameters.clone().unwrap_or_default();
    editor::Function {
        name: function.name.clone(),
        description: function.description.clone().unwrap_or_default(),
        required: some(parameters.required.clone()),
        properties: properties(parameters),
        next_node_id,
        decision,
        extra: Map::new(),
    }
}

fn properties(parameters: Parameters) -> Option<indexmap::IndexMap<String, editor::Property>> {
    let properties = parameters.properties.into_iter().map(|(name, mut schema)| {
        let kind = one_type(schema.remove("type").as_ref());
        schema.insert("type".into(), kind.clone().into());
        let property = serde_json::from_value(schema.clone().into());
        let property = property.unwrap_or(editor::Property {
            kind,
            description: None,
            choices: None,
            minimum: None,
            maximum: None,
            pattern: None,
            extra: schema,
        });
        (name, property)
    });
    let properties: indexmap::IndexMap<_, _> = properties.collect();
    (!properties.is_empty()).then_some(properties)
}

fn editor_decision(decision: &Decision) -> editor::Decision {
    let conditions = decision
        .conditions
        .iter()
        .map(|condition| editor::Condition {
            operator: condition.operator,
            value: condition.value.clone(),
            next_node_id: condition.node.clone(),
            extra: Map::new(),
        });
    editor::Decision {
        action: decision.action.clone(),
        conditions: conditions.collect(),
        default_next_node_id: decision.default.clone(),
        decision_node_position: None,
        extra: Map::new(),
    }
}

/// The one type of a parameter: the editor has no place for several, or for none.
fn one_type(written: Option<&serde_json::Value>) -> String {
    let names: Vec<&str> = match written {
        Some(serde_json::Value::String(name)) => vec![name],
        Some(serde_json::Value::Array(names)) => {
            let names = names.iter().filter_map(serde_json::Value::as_str);
            names.filter(|name| *name != "null").collect()
        }
        _ => Vec::new(),
    };
    match names.as_slice() {
        [name] => (*name).into(),
        _ => editor::Property::ANY.into(),
    }
}
