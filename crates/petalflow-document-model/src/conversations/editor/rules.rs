//! The rules of an editor's document that a JSON Schema cannot express.

use std::collections::{HashMap, HashSet};

use super::{EditorDocument, Function, NodeData, NodeType, Strategy};
use crate::conversations::common_rules::{
    check_actions, check_fields, check_parameters, check_template, schema_is_read,
};
use crate::conversations::decision::{Decision, Operator};
use crate::conversations::finding::{Code, Finding, Findings};
use crate::conversations::names::shown;
use crate::conversations::parameter_rules::Budget;
use crate::source::{Pointer, Severity};

impl EditorDocument {
    /// Checks what the types do not say.
    ///
    /// The editor checks only that names of nodes are unique and that lines have ends. Where a function leads, how many
    /// first nodes there are and which functions have the same name is checked here as well. These findings are
    /// warnings, because the editor opens such a document. A program cannot run it:
    /// [`Conversation::from_editor`](crate::conversations::Conversation::from_editor) reports them as errors.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Initial, "Start", []));
    /// document.nodes.push(Node::template(NodeType::End, "Start", []));
    /// assert_eq!(document.findings()[0].message, "Duplicate node id: start");
    /// ```
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = self.findings_for_run();
        let edges = "/edges/";
        for finding in &mut findings {
            let is_own = matches!(
                finding.code,
                Code::UnknownNode
                    | Code::InitialNode
                    | Code::DuplicateFunction
                    | Code::UnknownField
                    | Code::UnknownType
            );
            if is_own && !finding.pointer.as_str().starts_with(edges) {
                finding.severity = Severity::Warning;
            }
        }
        findings
    }

    /// The findings, with an error for everything that a program cannot run.
    pub(crate) fn findings_for_run(&self) -> Vec<Finding> {
        let mut checker = Checker {
            ids: self.nodes.iter().map(|node| &node.id).collect(),
            globals: self
                .global_functions
                .iter()
                .flatten()
                .map(|it| it.name.as_str())
                .collect(),
            budget: Budget::default(),
            findings: Findings::default(),
        };
        let root = Pointer::root();
        let has_globals = self.global_functions.is_some();
        check_fields(
            &self.extra,
            &[("global_functions", has_globals)],
            &root,
            &mut checker.findings,
        );
        let has_description = self.meta.description.is_some();
        check_fields(
            &self.meta.extra,
            &[("description", has_description)],
            &root.name("meta"),
            &mut checker.findings,
        );
        let nodes = root.name("nodes");
        let mut seen = HashSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let at = nodes.item(index);
            if !seen.insert(&node.id) {
                let message = format!("Duplicate node id: {}", node.id);
                checker
                    .findings
                    .add(Code::DuplicateNode, at.name("id"), message);
            }
            checker.node(&node.id, &node.data, &at.name("data"));
        }
        let globals = self.global_functions.as_deref().unwrap_or_default();
        checker.functions(
            globals,
            &Pointer::root().name("global_functions"),
            "global_functions",
        );
        self.check_edges(&mut checker);
        self.check_initial(&nodes, &mut checker);
        self.check_reachable(&nodes, &mut checker);
        checker.findings.into_vec()
    }

    /// The name of the first node: the one of type `initial`, else the first with a role, else the first.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    ///
    /// assert_eq!(EditorDocument::new("Empty").initial(), None);
    /// ```
    pub fn initial(&self) -> Option<&str> {
        let typed = self
            .nodes
            .iter()
            .find(|node| node.kind == NodeType::Initial);
        let with_role = || {
            let has_role =
                |data: &NodeData| data.role_messages.as_ref().is_some_and(|it| !it.is_empty());
            self.nodes.iter().find(|node| has_role(&node.data))
        };
        let node = typed.or_else(with_role).or(self.nodes.first())?;
        Some(&node.id)
    }

    fn check_initial(&self, nodes: &Pointer, checker: &mut Checker<'_>) {
        let initial = self.nodes.iter().enumerate();
        let mut initial = initial.filter(|(_, node)| node.kind == NodeType::Initial);
        match initial.next() {
            None => {
                if let Some(first) = self.initial() {
                    let message = format!(
                        "no node has the type `initial`: the conversation starts at '{first}'. Set the type of the first node"
                    );
                    checker.findings.add(Code::Stale, nodes.clone(), message);
                }
            }
            Some((_, first)) => {
                for (index, other) in initial {
                    let message = format!(
                        "'{}' has the type `initial`, but '{}' before it has it as well: a conversation has one first node",
                        other.id, first.id
                    );
                    checker.findings.add(
                        Code::InitialNode,
                        nodes.item(index).name("type"),
                        message,
                    );
                }
            }
        }
    }

    fn check_edges(&self, checker: &mut Checker<'_>) {
        let edges = Pointer::root().name("edges");
        let decisions: HashSet<String> = self.decision_ids().collect();
        for (index, edge) in self.edges.iter().enumerate() {
            for (end, id) in [("source", &edge.source), ("target", &edge.target)] {
                let is_decision = decisions.contains(id);
                if !checker.ids.contains(id) && !is_decision {
                    let hint = checker
                        .findings
                        .hints
                        .similar(id, checker.ids.iter().copied());
                    let message = format!("Edge {end} not found: {id}{hint}");
                    checker
                        .findings
                        .add(Code::UnknownNode, edges.item(index).name(end), message);
                }
            }
        }
    }

    fn check_reachable(&self, nodes: &Pointer, checker: &mut Checker<'_>) {
        let Some(initial) = self.initial() else {
            return;
        };
        let index: HashMap<&str, usize> = self
            .nodes
            .iter()
            .enumerate()
            .rev()
            .map(|(index, node)| (node.id.as_str(), index))
            .collect();
        let globals = self
            .global_functions
            .iter()
            .flatten()
            .flat_map(Function::targets);
        let mut next: Vec<&str> = globals.chain([initial]).collect();
        let mut reached = HashSet::new();
        while let Some(id) = next.pop() {
            if let Some(index) = index.get(id)
                && reached.insert(*index)
            {
                let functions = self.nodes[*index].data.functions();
                next.extend(functions.iter().flat_map(Function::targets));
            }
        }
        for (number, node) in self.nodes.iter().enumerate() {
            if index.get(node.id.as_str()) == Some(&number) && !reached.contains(&number) {
                let message = format!("nothing leads to node '{}'", node.id);
                checker.findings.add(
                    Code::UnreachableNode,
                    nodes.item(number).name("id"),
                    message,
                );
            }
        }
    }
}

impl Function {
    /// The names of the nodes that can follow. A decision goes before `next_node_id`.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::Function;
    ///
    /// let function: Function =
    ///     serde_json::from_str(r#"{ "name": "go", "description": "Go on.", "next_node_id": "end" }"#)?;
    /// assert_eq!(function.targets().collect::<Vec<_>>(), ["end"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        let plain = match &self.decision {
            None => self.next_node_id.as_deref(),
            Some(_) => None,
        };
        let of_decision = self.decision.iter().flat_map(|decision| {
            let conditions = decision.conditions.iter();
            conditions
                .map(|condition| condition.next_node_id.as_str())
                .chain([decision.default_next_node_id.as_str()])
        });
        plain
            .into_iter()
            .filter(|id| !id.is_empty())
            .chain(of_decision)
    }
}

struct Checker<'d> {
    ids: HashSet<&'d String>,
    globals: HashSet<&'d str>,
    budget: Budget,
    findings: Findings,
}

impl Checker<'_> {
    fn node(&mut self, id: &str, data: &NodeData, at: &Pointer) {
        let functions_at = at.name("functions");
        let owner = format!("node '{}'", shown(id));
        self.functions(data.functions(), &functions_at, &owner);
        for (index, function) in data.functions().iter().enumerate() {
            if self.globals.contains(function.name.as_str()) {
                let message = format!(
                    "{owner} function '{}' is also a global function",
                    function.name
                );
                let at = functions_at.item(index).name("name");
                self.findings.add(Code::DuplicateFunction, at, message);
            }
        }
        for (name, actions) in [
            ("pre_actions", &data.pre_actions),
            ("post_actions", &data.post_actions),
        ] {
            check_actions(
                actions.as_deref().unwrap_or_default(),
                &at.name(name),
                &mut self.findings,
            );
        }
        for (name, messages) in [
            ("role_messages", &data.role_messages),
            ("task_messages", &data.task_messages),
        ] {
            for (index, message) in messages.iter().flatten().enumerate() {
                let at = || at.name(name).item(index).name("content");
                check_template(&message.content, at, &mut self.findings);
            }
        }
        check_fields(
            &data.extra,
            &[
                ("label", data.label.is_some()),
                ("role_messages", data.role_messages.is_some()),
                ("task_messages", data.task_messages.is_some()),
                ("functions", data.functions.is_some()),
                ("pre_actions", data.pre_actions.is_some()),
                ("post_actions", data.post_actions.is_some()),
                ("context_strategy", data.context_strategy.is_some()),
                ("respond_immediately", data.respond_immediately.is_some()),
            ],
            at,
            &mut self.findings,
        );
        self.context_strategy(data, at, &owner);
    }

    fn context_strategy(&mut self, data: &NodeData, at: &Pointer, owner: &str) {
        if let Some(strategy) = &data.context_strategy
            && check_fields(
                &strategy.extra,
                &[("summary_prompt", strategy.summary_prompt.is_some())],
                &at.name("context_strategy"),
                &mut self.findings,
            )
            .is_empty()
            && strategy.strategy == Strategy::ResetWithSummary
            && strategy
                .summary_prompt
                .as_deref()
                .unwrap_or_default()
                .trim()
                .is_empty()
        {
            let message = format!(
                "{owner} has the strategy RESET_WITH_SUMMARY without a `summary_prompt`: say what the model should summarize"
            );
            self.findings
                .add(Code::BadStrategy, at.name("context_strategy"), message);
        }
    }

    fn functions(&mut self, functions: &[Function], at: &Pointer, owner: &str) {
        let mut seen = HashSet::new();
        for (index, function) in functions.iter().enumerate() {
            let at = at.item(index);
            let name = &function.name;
            if !seen.insert(name) {
                let message = format!("duplicate function '{name}' in {owner}");
                self.findings
                    .add(Code::DuplicateFunction, at.name("name"), message);
            }
            if let Some(problem) = super::function_name_problem(name) {
                self.findings.add(Code::BadName, at.name("name"), problem);
            }
            self.targets(function, &at, owner);
            self.parameters(function, &at);
        }
    }

    fn targets(&mut self, function: &Function, at: &Pointer, owner: &str) {
        let name = &function.name;
        if let Some(next) = &function.next_node_id
            && function.decision.is_none()
        {
            let at = || at.name("next_node_id");
            if next.is_empty() {
                let message = format!(
                    "{owner} function '{name}' has an empty `next_node_id`: the conversation stays in its node. Name a node, or \
                     remove it"
                );
                self.findings.add(Code::NoTarget, at(), message);
            } else {
                self.target(next, at, name, owner);
            }
        }
        let Some(decision) = &function.decision else {
            return;
        };
        let at = at.name("decision");
        for (index, condition) in decision.conditions.iter().enumerate() {
            let at = at.name("conditions").item(index);
            self.target(
                &condition.next_node_id,
                || at.name("next_node_id"),
                name,
                owner,
            );
            let read = Decision::new("").when(condition.operator, &condition.value, "");
            if let Err(error) = read {
                let message = format!(
                    "the condition `result {} {}` of function '{name}': {error}",
                    condition.operator.as_str(),
                    shown(&condition.value)
                );
                self.findings
                    .add(Code::BadCondition, at.name("value"), message);
            } else if matches!(condition.operator, Operator::In | Operator::NotIn)
                && !can_contain(&condition.value)
            {
                let message = format!(
                    "the condition `result {} {}` of function '{name}' compares with one value: write a list, for example `[{}]`",
                    condition.operator.as_str(),
                    shown(&condition.value),
                    shown(&condition.value)
                );
                self.findings
                    .add(Code::BadCondition, at.name("value"), message);
            }
        }
        self.target(
            &decision.default_next_node_id,
            || at.name("default_next_node_id"),
            name,
            owner,
        );
    }

    fn target(&mut self, id: &String, at: impl FnOnce() -> Pointer, function: &str, owner: &str) {
        if !self.ids.contains(id) {
            let hint = self.findings.hints.similar(id, self.ids.iter().copied());
            let message =
                format!("{owner} function '{function}' transitions to unknown node '{id}'{hint}");
            self.findings.add(Code::UnknownNode, at(), message);
        }
    }

    fn parameters(&mut self, function: &Function, at: &Pointer) {
        let extra = schema_is_read(
            &function.name,
            "properties",
            &function.extra,
            at,
            &mut self.findings,
        );
        let meant = check_fields(
            &extra,
            &[
                ("properties", function.properties.is_some()),
                ("required", function.required.is_some()),
                ("next_node_id", function.next_node_id.is_some()),
                ("decision", function.decision.is_some()),
            ],
            at,
            &mut self.findings,
        );
        let mut parameters = function.parameters();
        if meant.contains(&"properties") {
            parameters.required.clear();
        }
        check_parameters(
            &function.name,
            &parameters,
            at,
            &mut self.budget,
            &mut self.findings,
        );
    }
}

fn can_contain(literal: &str) -> bool {
    use crate::conversations::decision::Value;
    !matches!(
        literal.parse(),
        Ok(Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_))
    )
}
