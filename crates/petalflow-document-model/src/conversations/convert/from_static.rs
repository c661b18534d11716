//! From the static forms.

use crate::conversations::common_rules::{
    check_actions, check_fields, check_messages, check_parameters, schema_is_read,
};
use crate::conversations::conversation::{Conversation, Function, Handler, Next, Node};
use crate::conversations::finding::{Code, Finding, Findings};
use crate::conversations::legacy::{self, Described, StaticFlow, UNREAD};
use crate::conversations::names::shown;
use crate::conversations::parameter_rules::Budget;
use crate::conversations::parameters::Parameters;
use crate::source::{Pointer, Severity};
use serde_json::{Map, Value};

impl StaticFlow {
    /// Checks what the types do not say: that nodes exist, that names are unique, and that actions have what they need.
    ///
    /// ```
    /// use petalflow_document_model::conversations::legacy::StaticFlow;
    ///
    /// let flow: StaticFlow = serde_json::from_str(r#"{ "initial_node": "b", "nodes": { "a": {} } }"#)?;
    /// assert_eq!(flow.findings()[0].message, "initial_node 'b' is not a defined node");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Findings::default();
        let mut budget = Budget::default();
        let root = Pointer::root();
        if !self.nodes.contains_key(&self.initial_node) {
            let hint = findings
                .hints
                .similar(&self.initial_node, self.nodes.keys());
            let message = format!(
                "initial_node '{}' is not a defined node{hint}",
                self.initial_node
            );
            findings.add(Code::UnknownNode, root.name("initial_node"), message);
        }
        for (name, node) in &self.nodes {
            let at = root.name("nodes").name(name);
            self.check_functions(name, node, &at, &mut budget, &mut findings);
            for (list, actions) in [
                ("pre_actions", &node.pre_actions),
                ("post_actions", &node.post_actions),
            ] {
                check_actions(
                    actions.as_deref().unwrap_or_default(),
                    &at.name(list),
                    &mut findings,
                );
            }
            for (list, messages) in [
                ("messages", &node.messages),
                ("role_messages", &node.role_messages),
                ("task_messages", &node.task_messages),
            ] {
                let messages = messages.as_deref().unwrap_or_default();
                check_messages(messages, || at.name(list), &mut findings);
            }
            check_fields(
                &node.extra,
                &[
                    ("messages", node.messages.is_some()),
                    ("role_messages", node.role_messages.is_some()),
                    ("task_messages", node.task_messages.is_some()),
                    ("functions", node.functions.is_some()),
                    ("pre_actions", node.pre_actions.is_some()),
                    ("post_actions", node.post_actions.is_some()),
                ],
                &at,
                &mut findings,
            );
        }
        findings.into_vec()
    }

    fn check_functions(
        &self,
        node_name: &str,
        node: &legacy::Node,
        at: &Pointer,
        budget: &mut Budget,
        findings: &mut Findings,
    ) {
        let node_name = shown(node_name);
        let mut seen = std::collections::HashSet::new();
        for (index, offered) in node.functions.iter().flatten().enumerate() {
            for described in offered.described(&at.name("functions").item(index)) {
                let (function, at) = (&described.function, &described.at);
                let name = &function.name;
                if !seen.insert(name.clone()) {
                    let message = format!("duplicate function '{name}' in node '{node_name}'");
                    findings.add(Code::DuplicateFunction, at.name("name"), message);
                }
                if let Some(target) = &function.transition_to
                    && !self.nodes.contains_key(target)
                {
                    let hint = findings.hints.similar(target, self.nodes.keys());
                    let message = format!(
                        "node '{node_name}' function '{name}' transitions to unknown node '{target}'{hint}"
                    );
                    let at = described.code_at.name("transition_to");
                    findings.add(Code::UnknownNode, at, message);
                }
                check_schema(&described, budget, findings);
            }
        }
    }
}

/// The schema of a function's arguments, and that there is no other one.
fn check_schema(described: &Described<'_>, budget: &mut Budget, findings: &mut Findings) {
    let function = &described.function;
    let mut known = vec![
        ("description", function.description.is_some()),
        ("handler", function.handler.is_some()),
        ("transition_to", function.transition_to.is_some()),
    ];
    let schema = function.parameters.as_ref();
    // An empty object needs no properties.
    let of_schema = [
        (
            "properties",
            schema.is_some_and(|it| !it.properties.is_empty()),
        ),
        ("required", schema.is_some_and(|it| it.required.is_some())),
    ];
    let mut parameters = parameters(function);
    let (field, parameters_at) = match &described.schema {
        None => {
            known.extend(of_schema);
            known.extend([("input_schema", false), ("parameters", false)]);
            ("properties", &described.at)
        }
        Some((field, at)) => {
            known.push((field, schema.is_some()));
            (*field, at)
        }
    };
    let extra = schema_is_read(
        &function.name,
        field,
        &function.extra,
        &described.at,
        findings,
    );
    for (at, inner, others) in &described.around {
        is_not_outside(&function.name, inner, others, at, findings);
    }
    let mut unknown = check_fields(&extra, &known, &described.at, findings);
    if let Some(schema) = schema.filter(|_| described.schema.is_some()) {
        unknown = check_fields(&schema.extra, &of_schema, parameters_at, findings);
    }
    if unknown.contains(&"properties") {
        parameters.required.clear();
    }
    check_parameters(&function.name, &parameters, parameters_at, budget, findings);
}

/// Fields around a function that belong into it: nothing reads them there.
fn is_not_outside(
    function: &str,
    inner: &str,
    others: &Map<String, Value>,
    at: &Pointer,
    findings: &mut Findings,
) {
    let read = ["handler", "transition_to"];
    for name in others.keys() {
        if UNREAD.contains(&name.as_str()) || read.contains(&name.as_str()) {
            let message = format!(
                "function '{}' has `{name}` beside `{inner}`; write it into `{inner}`",
                shown(function)
            );
            findings.add(Code::BadFunction, at.name(name), message);
        }
    }
}

impl Conversation {
    /// Reads a document in one of the static forms.
    ///
    /// In the oldest form a function with the name of a node leads there. A function without a handler that leads to a
    /// node has no code.
    ///
    /// # Errors
    ///
    /// The document has an error: all findings, with the warnings.
    ///
    /// ```
    /// use petalflow_document_model::conversations::{Conversation, Next};
    ///
    /// let flow = serde_json::from_str(r#"{ "initial_node": "a", "nodes": {
    ///     "a": { "messages": [], "functions": [{ "type": "function", "function": { "name": "end" } }] },
    ///     "end": { "messages": [] } } }"#)?;
    /// let conversation = Conversation::from_static(&flow).unwrap();
    /// assert_eq!(conversation.nodes["a"].functions[0].next, Next::Node("end".into()));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn from_static(flow: &StaticFlow) -> Result<Self, Vec<Finding>> {
        let findings = flow.findings();
        if findings.iter().any(|it| it.severity == Severity::Error) {
            return Err(findings);
        }
        Ok(Conversation::of_static(flow))
    }

    /// Reads a document without errors.
    pub(crate) fn of_static(flow: &StaticFlow) -> Self {
        let nodes = flow.nodes.iter();
        Conversation {
            name: None,
            initial_node: flow.initial_node.clone(),
            nodes: nodes
                .map(|(name, it)| (name.clone(), node(it, flow)))
                .collect(),
            global_functions: Vec::new(),
        }
    }
}

fn node(node: &legacy::Node, flow: &StaticFlow) -> Node {
    let task_messages = node.task_messages.iter().chain(&node.messages);
    let functions = node.functions.iter().flatten();
    Node {
        role_messages: node.role_messages.clone().unwrap_or_default(),
        task_messages: task_messages.flatten().cloned().collect(),
        functions: functions
            .flat_map(legacy::Offered::functions)
            .map(|it| function(&it, flow))
            .collect(),
        pre_actions: node.pre_actions.clone().unwrap_or_default(),
        post_actions: node.post_actions.clone().unwrap_or_default(),
        ..Node::default()
    }
}

fn function(function: &legacy::Function, flow: &StaticFlow) -> Function {
    let name = &function.name;
    let named_like_a_node = flow.is_oldest_form() && flow.nodes.contains_key(name);
    let next = match &function.transition_to {
        Some(node) => Next::Node(node.clone()),
        None if named_like_a_node => Next::Node(name.clone()),
        None => Next::Stay,
    };
    let parameters = parameters(function);
    let handler = match (function.handler_name(), &next) {
        (Some(handler), _) => Handler::Named(handler.into()),
        (None, Next::Node(_)) if parameters.properties.is_empty() => Handler::Nothing,
        (None, _) => Handler::Named(name.clone()),
    };
    Function {
        name: name.clone(),
        description: function.description.clone(),
        parameters: Some(parameters),
        handler,
        next,
    }
}

fn parameters(function: &legacy::Function) -> Parameters {
    let parameters = function.parameters.clone().unwrap_or_default();
    Parameters {
        properties: parameters.properties,
        required: parameters.required.unwrap_or_default(),
    }
}
