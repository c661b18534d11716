//! The rules of a `FlowConfig` that a JSON Schema cannot express.

use std::collections::HashSet;

use super::{FlowConfig, Function, Transition};
use crate::conversations::common_rules::{check_actions, check_messages, check_template};
use crate::conversations::finding::{Code, Finding, Findings};
use crate::conversations::names::shown;
use crate::source::Pointer;

impl FlowConfig {
    /// Checks what the types do not say: that nodes exist, that names are unique, that functions and actions have what
    /// they need, and that placeholders can be read.
    ///
    /// ```
    /// use petalflow_document_model::conversations::config::FlowConfig;
    /// use serde_json::json;
    ///
    /// let config: FlowConfig = serde_json::from_value(json!({
    ///     "initial_node": "strat",
    ///     "nodes": { "start": { "task_messages": [] } },
    /// }))?;
    /// let findings = config.findings();
    /// assert_eq!(findings[0].message, "initial_node 'strat' is not a defined node; did you mean `start`?");
    /// assert_eq!(findings[0].pointer, "/initial_node");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Findings::default();
        let root = Pointer::root();
        if !self.nodes.contains_key(&self.initial_node) {
            let name = &self.initial_node;
            let hint = findings.hints.similar(name, self.nodes.keys());
            findings.add(
                Code::UnknownNode,
                root.name("initial_node"),
                format!("initial_node '{name}' is not a defined node{hint}"),
            );
        }
        let globals = &self.global_functions;
        let global_names: HashSet<&str> = globals.iter().map(|it| it.name.as_str()).collect();
        let at = root.name("global_functions");
        self.functions(
            globals,
            &at,
            "global_functions",
            "global_functions",
            &mut findings,
        );
        for (name, node) in &self.nodes {
            let at = root.name("nodes").name(name);
            let functions_at = at.name("functions");
            let owner = format!("node '{}'", shown(name));
            self.functions(
                &node.functions,
                &functions_at,
                "node",
                &owner,
                &mut findings,
            );
            for (index, function) in node.functions.iter().enumerate() {
                if global_names.contains(function.name.as_str()) {
                    let name = &function.name;
                    findings.add(
                        Code::DuplicateFunction,
                        functions_at.item(index).name("name"),
                        format!("{owner} function '{name}' is also a global function"),
                    );
                }
            }
            for (name, actions) in [
                ("pre_actions", &node.pre_actions),
                ("post_actions", &node.post_actions),
            ] {
                check_actions(actions, &at.name(name), &mut findings);
            }
            if let Some(text) = &node.role_message {
                check_template(text, || at.name("role_message"), &mut findings);
            }
            let at = || at.name("task_messages");
            check_messages(&node.task_messages, at, &mut findings);
        }
        findings.into_vec()
    }

    fn functions(
        &self,
        functions: &[Function],
        at: &Pointer,
        place: &str,
        owner: &str,
        findings: &mut Findings,
    ) {
        let mut seen = HashSet::new();
        for (index, function) in functions.iter().enumerate() {
            let at = at.item(index);
            let name = &function.name;
            if !seen.insert(name) {
                findings.add(
                    Code::DuplicateFunction,
                    at.name("name"),
                    format!("duplicate function '{name}' in {place}"),
                );
            }
            check_shape(function, &at, findings);
            let transition = at.name("transition_to");
            for (pointer, target) in targets(function, &transition) {
                if !self.nodes.contains_key(target) {
                    let hint = findings.hints.similar(target, self.nodes.keys());
                    findings.add(
                        Code::UnknownNode,
                        pointer,
                        format!(
                            "{owner} function '{name}' transitions to unknown node '{target}'{hint}"
                        ),
                    );
                }
            }
        }
    }
}

/// The nodes that can follow, with their places.
fn targets<'f>(function: &'f Function, at: &Pointer) -> Vec<(Pointer, &'f str)> {
    match &function.transition_to {
        None => Vec::new(),
        Some(Transition::Node(node)) => vec![(at.clone(), node)],
        Some(Transition::Branch(branch)) => {
            let cases = at.name("cases");
            let cases = branch
                .cases
                .iter()
                .map(|(case, node)| (cases.name(case), node.as_str()));
            let default = branch
                .default
                .as_deref()
                .map(|node| (at.name("default"), node));
            cases.chain(default).collect()
        }
    }
}

/// A function without code has a description and one node that follows; a function with code describes itself there.
fn check_shape(function: &Function, at: &Pointer, findings: &mut Findings) {
    let name = &function.name;
    if !function.transition_only {
        if function.description.is_some() {
            findings.add(
                Code::BadFunction,
                at.name("description"),
                format!(
                    "function '{name}' has a description, but its code describes it: remove `description`, or set \
                     `transition_only: true` if it has no code"
                ),
            );
        }
    } else if function.description.is_none() {
        findings.add(
            Code::BadFunction,
            at.clone(),
            format!("function '{name}' is transition_only and needs a `description`, which tells the model when to call it"),
        );
    } else if !matches!(function.transition_to, Some(Transition::Node(_))) {
        findings.add(
            Code::BadFunction,
            at.clone(),
            format!("function '{name}' is transition_only and needs a `transition_to` that names a node: it has no result to branch on"),
        );
    }
    if let Some(Transition::Branch(branch)) = &function.transition_to {
        let mut seen = HashSet::new();
        for case in branch.cases.keys() {
            if !seen.insert(crate::conversations::case_key::text_key(case)) {
                findings.add(
                    Code::DuplicateCase,
                    at.name("transition_to").name("cases").name(case),
                    format!("function '{name}' has the case '{case}' twice: truth values match in all letters"),
                );
            }
        }
    }
}
