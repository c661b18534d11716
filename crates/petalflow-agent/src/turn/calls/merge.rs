//! Merges the tool results of one turn into one event.

use crate::AgentEvent;
use petalflow::tool;
use petalflow_llm::{ChatMessage, Role};

/// Merges events into one, in order: it contains all parts, and the actions are merged. It keeps the id and the
/// author of the first event. `None` if there are no events.
pub(in crate::turn) fn responses(
    events: impl IntoIterator<Item = Option<AgentEvent>>,
) -> Option<AgentEvent> {
    events.into_iter().flatten().reduce(|mut merged, event| {
        let actions = [
            Some(std::mem::take(&mut merged.actions)),
            Some(event.actions),
        ];
        merged.actions = tool::merge(actions).unwrap_or_default();
        merged.guardrails.extend(event.guardrails);
        merged.output = event.output.or(merged.output);
        let parts = event.message.map(|message| message.parts);
        let none = || ChatMessage::new(Role::Tool, Vec::new());
        let into = merged.message.get_or_insert_with(none);
        into.parts.extend(parts.unwrap_or_default());
        merged
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow::tool::ToolResult;

    fn event(id: &str) -> AgentEvent {
        AgentEvent {
            id: id.into(),
            ..AgentEvent::new(
                "guide",
                ChatMessage::results([ToolResult {
                    call_id: id.into(),
                    ..ToolResult::default()
                }]),
            )
        }
    }

    fn ids(event: &AgentEvent) -> Vec<&str> {
        event.results().map(|result| &*result.call_id).collect()
    }

    #[test]
    fn a038_c104_none_is_nothing_one_is_itself_and_holes_are_skipped() {
        assert_eq!(responses([]), None);
        assert_eq!(responses([Some(event("a"))]), Some(event("a")));
        assert_eq!(responses([None, None]), None);
        assert_eq!(ids(&responses([None, Some(event("b"))]).unwrap()), ["b"]);
        let three = responses([Some(event("a")), None, Some(event("c"))]).unwrap();
        assert_eq!(ids(&three), ["a", "c"]);
    }

    #[test]
    fn a039_the_first_that_is_there_gives_id_and_author() {
        let mut second = event("b");
        second.author = "other".into();
        let merged = responses([None, Some(event("a")), Some(second)]).unwrap();
        assert_eq!((&*merged.id, &*merged.author), ("a", "guide"));
    }
}
