//! The ids of tasks.

use crate::access::Access;
use crate::digest::digest;
use crate::served::ServedThreads;
use crate::server::prefix;

/// A task: the turn with which it begins. Its id names the thread and the number of the last event before the turn, with a
/// checksum, so that only ids that the server has given name tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    /// The id of the thread after the name of the flow.
    own: String,
    /// The context as the caller has chosen it.
    pub(super) context: String,
    /// The number of the last event before the first turn.
    pub(super) after: u64,
}

impl TaskId {
    /// The task of this caller that begins after this event.
    pub(super) fn new(own: &str, after: u64, access: &Access) -> Self {
        TaskId {
            own: own.to_string(),
            context: access.chosen(own).to_string(),
            after,
        }
    }

    /// The id of the thread after the name of the flow.
    pub(super) fn own(&self) -> &str {
        &self.own
    }

    pub(super) fn thread(&self, flow: &dyn ServedThreads) -> String {
        format!("{}{}", prefix(flow.facts()), self.own)
    }

    /// The id as clients see it.
    pub(super) fn text(&self) -> String {
        format!("{}.{}.{}", self.own, self.after, self.checksum())
    }

    fn checksum(&self) -> String {
        digest(format!("task\n{}\n{}", self.own, self.after))[..8].to_string()
    }

    pub(super) fn parse(text: &str, access: &Access) -> Option<Self> {
        let (rest, checksum) = text.rsplit_once('.')?;
        let (own, after) = rest.rsplit_once('.')?;
        let id = TaskId::new(own, after.parse().ok()?, access);
        (id.checksum() == checksum).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_server_are_read() {
        let id = TaskId::new("a.b c:d", 12, &Access::All);
        let parse = |text: &str| TaskId::parse(text, &Access::All);
        assert_eq!(parse(&id.text()), Some(id.clone()));
        assert_eq!(parse(&id.text().replace(".12.", ".13.")), None);
        assert_eq!(parse("x"), None);
    }
}
