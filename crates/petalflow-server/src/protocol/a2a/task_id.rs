//! The ids of tasks.

use crate::served::ServedThreads;
use crate::server::prefix;
use crate::start_lock::digest;

/// A task: the turn with which it begins. Its id names the thread and the number of the last event before the turn, with a
/// checksum, so that only ids that the server has given name tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    /// The id of the thread after the name of the flow: the context.
    pub(super) context: String,
    /// The number of the last event before the first turn.
    pub(super) after: u64,
}

impl TaskId {
    pub(super) fn thread(&self, flow: &dyn ServedThreads) -> String {
        format!("{}{}", prefix(flow.facts()), self.context)
    }

    /// The id as clients see it.
    pub(super) fn text(&self) -> String {
        let TaskId { context, after } = self;
        format!("{context}.{after}.{}", self.checksum())
    }

    fn checksum(&self) -> String {
        digest(format!("task\n{}\n{}", self.context, self.after))[..8].to_string()
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (rest, checksum) = text.rsplit_once('.')?;
        let (context, after) = rest.rsplit_once('.')?;
        let id = TaskId {
            context: context.to_string(),
            after: after.parse().ok()?,
        };
        (id.checksum() == checksum).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_server_are_read() {
        let id = TaskId {
            context: "a.b c:d".into(),
            after: 12,
        };
        assert_eq!(TaskId::parse(&id.text()), Some(id.clone()));
        assert_eq!(TaskId::parse(&id.text().replace(".12.", ".13.")), None);
        assert_eq!(TaskId::parse("x"), None);
    }
}
