//! The ids of tasks.

use std::sync::Arc;

use crate::access::Access;
use crate::digest::digest;
use crate::protocol::queued::Begun;
use crate::protocol::turn_start::TurnStart;
use crate::refusal::Refusal;
use crate::served::ServedThreads;
use crate::server::{Inner, prefix};

/// A task: the turn with which it begins. Its id names the thread and the start of the turn, with a checksum, so that only ids that
/// the server has given name tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    /// The id of the thread after the name of the flow.
    own: String,
    /// The context as the caller has chosen it.
    pub(super) context: String,
    /// Where its first turn begins.
    start: TurnStart,
}

impl TaskId {
    /// The task of this caller that begins here.
    pub(super) fn new(own: &str, start: TurnStart, access: &Access) -> Self {
        TaskId {
            own: own.to_string(),
            context: access.chosen(own).to_string(),
            start,
        }
    }

    /// The first turn, or the queued message that begins it. `None` if the server does not know it any more.
    pub(super) async fn begun(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
    ) -> Result<Option<Begun>, Refusal> {
        self.start.begun(server, flow, self.thread(&**flow)).await
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
        format!("{}.{}.{}", self.own, self.start, self.checksum())
    }

    fn checksum(&self) -> String {
        digest(format!("task\n{}\n{}", self.own, self.start))[..8].to_string()
    }

    pub(super) fn parse(text: &str, access: &Access) -> Option<Self> {
        let (rest, checksum) = text.rsplit_once('.')?;
        let (own, start) = rest.rsplit_once('.')?;
        let id = TaskId::new(own, TurnStart::parse(start)?, access);
        (id.checksum() == checksum).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_server_are_read() {
        let id = TaskId::new("a.b c:d", TurnStart::After(12), &Access::All);
        let parse = |text: &str| TaskId::parse(text, &Access::All);
        assert_eq!(parse(&id.text()), Some(id.clone()));
        assert_eq!(parse(&id.text().replace(".12.", ".13.")), None);
        assert_eq!(parse("x"), None);
        let queued = TurnStart::Queued("0123456789abcdef".into());
        let queued = TaskId::new("a.b c:d", queued, &Access::All);
        assert_eq!(parse(&queued.text()), Some(queued));
    }
}
