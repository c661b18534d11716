//! The ids of responses. Each names the thread and the start of the turn in it.

use std::sync::Arc;

use crate::protocol::openai::error::ApiError;
use crate::protocol::queued::Begun;
use crate::protocol::turn_start::TurnStart;
use crate::refusal::Refusal;
use crate::served::ServedThreads;
use crate::server::{Inner, prefix};

/// The id of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseId {
    /// The part of the id of the thread after the name of its flow.
    own: String,
    start: TurnStart,
}

impl ResponseId {
    pub(super) fn of(begun: &Begun) -> Self {
        let thread = begun.thread();
        let own = thread.rsplit(':').next();
        Self::at(own.unwrap_or(thread), TurnStart::of(begun))
    }

    fn at(own: &str, start: TurnStart) -> Self {
        ResponseId {
            own: own.to_string(),
            start,
        }
    }

    pub(super) fn parse(id: &str) -> Option<Self> {
        let (own, start) = id.strip_prefix("resp_")?.rsplit_once('_')?;
        let is_hex = own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then_some(Self::at(own, TurnStart::parse(start)?))
    }

    /// Whether the response was queued before its turn began. Then its events say so, whenever they are read.
    pub(super) fn was_queued(&self) -> bool {
        matches!(self.start, TurnStart::Queued(_))
    }

    /// The response of the turn in the same thread that begins here.
    pub(super) fn sibling(&self, start: TurnStart) -> Self {
        Self::at(&self.own, start)
    }

    /// What the ids of the items of the response end with.
    pub(super) fn suffix(&self) -> String {
        format!("{}_{}", self.own, self.start)
    }

    /// The thread of the response, as one of this flow.
    pub(super) fn thread(&self, flow: &dyn ServedThreads) -> String {
        format!("{}{}", prefix(flow.facts()), self.own)
    }

    /// The turn of the response, or the queued message that begins it, as of a thread of this flow.
    pub(super) async fn begun(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
    ) -> Result<Option<Begun>, Refusal> {
        self.start.begun(server, flow, self.thread(&**flow)).await
    }

    /// The flow of the thread of the response.
    pub(super) async fn flow(
        &self,
        server: &Arc<Inner>,
    ) -> Result<Arc<dyn ServedThreads>, ApiError> {
        for flow in &server.settings.flows {
            let thread = self.thread(&**flow);
            let known = server.is_running(&thread) || flow.view(&thread, None).await?.is_some();
            if known {
                return Ok(Arc::clone(flow));
            }
        }
        Err(ApiError::not_found(format!(
            "there is no response `{self}`"
        )))
    }
}

impl std::fmt::Display for ResponseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "resp_{}", self.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        for start in [
            TurnStart::After(17),
            TurnStart::Queued("0123456789abcdef".into()),
        ] {
            let id = ResponseId::at("0123456789abcdef0123456789abcdef", start);
            assert_eq!(ResponseId::parse(&id.to_string()), Some(id));
        }
        for other in [
            "resp_abc",
            "resp_0123456789abcdef0123456789abcdef_x",
            "resp_../x_1",
            "",
        ] {
            assert_eq!(ResponseId::parse(other), None);
        }
    }
}
