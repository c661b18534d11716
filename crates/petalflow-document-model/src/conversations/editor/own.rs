//! Fields of this crate in documents of the editor, which has no place for what they say. The editor ignores them.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{Decision, Function, NodeData, Property};
use crate::conversations::config::Branch;
use crate::conversations::decision::Operator;

/// The name of a function's code, where it is not the name of the function or the editor would see none.
const HANDLER: &str = "handler";

/// Who the model is, as a text that holds at the nodes that follow. It is the first role message as well.
const ROLE_MESSAGE: &str = "role_message";

/// The branch from which a decision was made.
const TRANSITION: &str = "transition_to";

impl Function {
    pub(crate) fn handler(&self) -> Option<&str> {
        self.extra.get(HANDLER).and_then(Value::as_str)
    }

    pub(crate) fn set_handler(&mut self, handler: &str) {
        self.extra.insert(HANDLER.into(), handler.into());
    }

    /// The fields that this crate does not know.
    pub(crate) fn other_fields(&self) -> Map<String, Value> {
        without(&self.extra, &[HANDLER, TRANSITION])
    }

    /// The branch of a decision that was made from one and has not been changed.
    pub(crate) fn branch(&self, decision: &Decision) -> Option<Branch> {
        let mut branch = Branch::deserialize(self.extra.get(TRANSITION)?).ok()?;
        // Other fields have lost their order.
        let known: HashMap<String, &String> =
            branch.cases.keys().map(|it| (literal(it), it)).collect();
        let conditions = decision.conditions.iter();
        let cases = conditions.map(|condition| {
            let case = *known.get(&condition.value)?;
            Some((case.clone(), condition.next_node_id.clone()))
        });
        let cases: Option<IndexMap<_, _>> = cases.collect();
        let cases = cases?;
        if cases != branch.cases {
            return None;
        }
        branch.cases = cases;
        let same = Decision::of_branch(&branch)?;
        let is_same = same.action == decision.action
            && same.conditions == decision.conditions
            && same.default_next_node_id == decision.default_next_node_id;
        is_same.then_some(branch)
    }

    pub(crate) fn set_branch(&mut self, branch: &Branch) {
        // A struct of texts always becomes a value.
        let branch = serde_json::to_value(branch).unwrap_or_default();
        self.extra.insert(TRANSITION.into(), branch);
    }
}

impl Property {
    /// The type of a parameter whose schema has none, or several.
    pub(crate) const ANY: &str = "any";
}

impl NodeData {
    /// The role message that also applies to the nodes after this one, if nobody changed it.
    pub(crate) fn role_message(&self) -> Option<&str> {
        let text = self.extra.get(ROLE_MESSAGE)?.as_str()?;
        let first = self.role_messages.as_ref()?.first()?;
        (first.content == text).then_some(text)
    }

    /// The fields that this crate does not know.
    pub(crate) fn other_fields(&self) -> Map<String, Value> {
        without(&self.extra, &[ROLE_MESSAGE])
    }

    pub(crate) fn set_role_message(&mut self, text: &str) {
        self.extra.insert(ROLE_MESSAGE.into(), text.into());
    }
}

impl Decision {
    /// A decision for each case of a branch. Without a default, the last case is one. `None` without a case.
    pub(crate) fn of_branch(branch: &Branch) -> Option<Self> {
        let default = branch.default.as_ref();
        let default = default.or(branch.cases.values().next_back())?;
        let conditions = branch.cases.iter().map(|(case, node)| super::Condition {
            operator: Operator::Equal,
            value: literal(case),
            next_node_id: node.clone(),
            extra: Map::new(),
        });
        Some(Decision {
            action: format!("result = args[{:?}]", branch.field),
            conditions: conditions.collect(),
            default_next_node_id: default.clone(),
            decision_node_position: None,
            extra: Map::new(),
        })
    }
}

fn without(extra: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let others = extra
        .iter()
        .filter(|(name, _)| !names.contains(&name.as_str()));
    others
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The case of a branch as a literal of Python.
fn literal(case: &str) -> String {
    match case.to_lowercase().as_str() {
        "true" => "True".into(),
        "false" => "False".into(),
        _ if case.parse::<i64>().is_ok() => case.into(),
        _ => format!("{case:?}"),
    }
}
