//! The names of the kinds of events.

use std::fmt;

use super::{EventKind, EventTypes, LoggedEvent};

/// The name of a kind of event, as a log and JSON have it. A program compares it in place of a text.
///
/// ```
/// use petalflow::event::EventName;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply() -> ChatLines { ChatLines(vec!["hi".into()]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let events = thread.events_since(0).await?;
/// assert_eq!(events[0].name(), Some(EventName::RunStarted));
/// assert!(events.last().and_then(|last| last.name()).is_some_and(EventName::ends_run));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventName {
    /// [`EventKind::RunStarted`]
    RunStarted,
    /// [`EventKind::SuperstepStarted`]
    SuperstepStarted,
    /// [`EventKind::NodeStarted`]
    NodeStarted,
    /// [`EventKind::NodeFinished`]
    NodeFinished,
    /// [`EventKind::NodeRestored`]
    NodeRestored,
    /// [`EventKind::NodeSkipped`]
    NodeSkipped,
    /// [`EventKind::Asked`]
    Asked,
    /// [`EventKind::Retry`]
    Retry,
    /// [`EventKind::NodeFailed`]
    NodeFailed,
    /// [`EventKind::Custom`]
    Custom,
    /// [`EventKind::SuperstepFinished`]
    SuperstepFinished,
    /// [`EventKind::Values`]
    Values,
    /// [`EventKind::Checkpoint`]
    Checkpoint,
    /// [`EventKind::Nested`]
    Nested,
    /// [`EventKind::Finished`]
    Finished,
    /// [`EventKind::Interrupted`]
    Interrupted,
    /// [`EventKind::Sleeping`]
    Sleeping,
    /// [`EventKind::Failed`]
    Failed,
}

impl EventName {
    /// With their texts, in the order of the declaration.
    const ALL: [(Self, &str); 18] = [
        (EventName::RunStarted, "run_started"),
        (EventName::SuperstepStarted, "superstep_started"),
        (EventName::NodeStarted, "node_started"),
        (EventName::NodeFinished, "node_finished"),
        (EventName::NodeRestored, "node_restored"),
        (EventName::NodeSkipped, "node_skipped"),
        (EventName::Asked, "asked"),
        (EventName::Retry, "retry"),
        (EventName::NodeFailed, "node_failed"),
        (EventName::Custom, "custom"),
        (EventName::SuperstepFinished, "superstep_finished"),
        (EventName::Values, "values"),
        (EventName::Checkpoint, "checkpoint"),
        (EventName::Nested, "nested"),
        (EventName::Finished, "finished"),
        (EventName::Interrupted, "interrupted"),
        (EventName::Sleeping, "sleeping"),
        (EventName::Failed, "failed"),
    ];

    /// Its text, such as `node_finished`.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The name with this text.
    ///
    /// ```
    /// use petalflow::event::EventName;
    ///
    /// assert_eq!(EventName::named("node_finished"), Some(EventName::NodeFinished));
    /// assert_eq!(EventName::named("NodeFinished"), None);
    /// ```
    pub fn named(text: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == text);
        found.map(|(name, _)| name)
    }

    /// Whether it is the last event of a run.
    pub fn ends_run(self) -> bool {
        matches!(
            self,
            EventName::Finished | EventName::Interrupted | EventName::Sleeping | EventName::Failed
        )
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<S: EventTypes> From<&EventKind<S>> for EventName {
    fn from(kind: &EventKind<S>) -> Self {
        match kind {
            EventKind::RunStarted => EventName::RunStarted,
            EventKind::SuperstepStarted { .. } => EventName::SuperstepStarted,
            EventKind::NodeStarted => EventName::NodeStarted,
            EventKind::NodeFinished { .. } => EventName::NodeFinished,
            EventKind::NodeRestored { .. } => EventName::NodeRestored,
            EventKind::NodeSkipped => EventName::NodeSkipped,
            EventKind::Asked { .. } => EventName::Asked,
            EventKind::Retry { .. } => EventName::Retry,
            EventKind::NodeFailed { .. } => EventName::NodeFailed,
            EventKind::Custom(_) => EventName::Custom,
            EventKind::SuperstepFinished => EventName::SuperstepFinished,
            EventKind::Values { .. } => EventName::Values,
            EventKind::Checkpoint { .. } => EventName::Checkpoint,
            EventKind::Nested(_) => EventName::Nested,
            EventKind::Finished { .. } => EventName::Finished,
            EventKind::Interrupted { .. } => EventName::Interrupted,
            EventKind::Sleeping { .. } => EventName::Sleeping,
            EventKind::Failed { .. } => EventName::Failed,
        }
    }
}

impl<S: EventTypes> EventKind<S> {
    /// The text of its [name](EventName::as_str), such as `node_started`.
    pub fn name(&self) -> &'static str {
        EventName::from(self).as_str()
    }
}

impl LoggedEvent {
    /// The name of its kind. `None` if a later version of petalflow has stored it, with a kind that this one does not know.
    pub fn name(&self) -> Option<EventName> {
        EventName::named(&self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_that_of_its_name() {
        for (index, (name, text)) in EventName::ALL.into_iter().enumerate() {
            assert_eq!(name as usize, index);
            assert_eq!(EventName::named(text), Some(name));
        }
    }
}
