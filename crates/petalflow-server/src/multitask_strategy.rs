//! What happens to a message that comes while a run works.

use serde::Deserialize;

/// What happens to a message to a thread while a run has the thread. A flow sets it with
/// [`ServedFlow::multitask`](crate::ServedFlow::multitask), and a request can name another one.
///
/// ```
/// use petalflow_server::MultitaskStrategy;
///
/// assert_eq!(MultitaskStrategy::default(), MultitaskStrategy::Reject);
/// assert_eq!(MultitaskStrategy::Enqueue.as_str(), "enqueue");
/// assert_eq!(MultitaskStrategy::named("rollback"), Some(MultitaskStrategy::Rollback));
/// assert_eq!(MultitaskStrategy::named("wait"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MultitaskStrategy {
    /// The message is refused, over HTTP with 409.
    #[default]
    Reject,
    /// The message is stored, and begins a turn when the running one has ended, behind those that were stored before. The turn begins in
    /// any process of the server, also after a crash, and once.
    Enqueue,
    /// The agent reads the message before its next call of the model. If its last call has begun already, the message begins a turn
    /// when the running one has ended. For agents, and for messages of the user alone.
    Steer,
    /// The running turn is stopped at once. What it has stored stays in the conversation, and the message begins the next turn.
    Interrupt,
    /// The running turn is stopped at once, and undone: the message begins a turn from the checkpoint before it. What its tools did
    /// elsewhere stays.
    Rollback,
}

impl MultitaskStrategy {
    const ALL: [Self; 5] = [
        MultitaskStrategy::Reject,
        MultitaskStrategy::Enqueue,
        MultitaskStrategy::Steer,
        MultitaskStrategy::Interrupt,
        MultitaskStrategy::Rollback,
    ];

    /// Its name for clients.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            MultitaskStrategy::Reject => "reject",
            MultitaskStrategy::Enqueue => "enqueue",
            MultitaskStrategy::Steer => "steer",
            MultitaskStrategy::Interrupt => "interrupt",
            MultitaskStrategy::Rollback => "rollback",
        }
    }

    /// The strategy with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_names_of_strategies_are_those_in_json() {
        for strategy in MultitaskStrategy::ALL {
            assert_eq!(MultitaskStrategy::named(strategy.as_str()), Some(strategy));
            let read = serde_json::from_value(strategy.as_str().into());
            assert_eq!(read.ok(), Some(strategy));
        }
    }
}
