//! The permissions that a person has given for all calls of a tool.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The key in the state of a conversation.
const KEY: &str = "acp:permissions";

/// Whether the calls of tools are always made or always rejected in a session, by the names of the tools. They are in the conversation,
/// so a session that is loaded again has them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remembered {
    tools: BTreeMap<String, bool>,
    has_changed: bool,
}

impl Remembered {
    /// What is in the state of a conversation.
    pub(crate) fn of(state: &Map<String, Value>) -> Self {
        let known = state.get(KEY).and_then(Value::as_object);
        let tools = known.into_iter().flatten();
        let tools = tools.filter_map(|(tool, allowed)| Some((tool.clone(), allowed.as_bool()?)));
        Remembered {
            tools: tools.collect(),
            has_changed: false,
        }
    }

    /// What the person has decided about all calls of this tool.
    pub(crate) fn decision(&self, tool: &str) -> Option<bool> {
        self.tools.get(tool).copied()
    }

    pub(crate) fn remember(&mut self, tool: &str, allowed: bool) {
        self.has_changed |= self.tools.insert(tool.into(), allowed) != Some(allowed);
    }

    /// The key and the value for the state of the conversation, if something was decided.
    pub(crate) fn change(self) -> Option<(&'static str, Value)> {
        let tools = self.tools.into_iter();
        let tools = tools
            .map(|(tool, allowed)| (tool, allowed.into()))
            .collect();
        self.has_changed.then_some((KEY, Value::Object(tools)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f44_what_was_decided_is_in_the_conversation() {
        let mut state = Map::new();
        let mut remembered = Remembered::of(&state);
        assert_eq!(remembered.decision("delete"), None);
        remembered.remember("delete", true);
        remembered.remember("send", false);
        let (key, value) = remembered.change().unwrap();
        state.insert(key.into(), value);
        let mut again = Remembered::of(&state);
        assert_eq!(
            (again.decision("delete"), again.decision("send")),
            (Some(true), Some(false))
        );
        again.remember("delete", true);
        assert_eq!(again.change(), None);
    }

    #[test]
    fn f44_what_is_no_decision_is_asked_about() {
        let mut state = Map::new();
        state.insert(
            KEY.into(),
            serde_json::json!({ "delete": "yes", "send": true }),
        );
        let remembered = Remembered::of(&state);
        assert_eq!(
            (remembered.decision("delete"), remembered.decision("send")),
            (None, Some(true))
        );
    }
}
