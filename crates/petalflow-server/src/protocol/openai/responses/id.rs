//! The ids of responses. Each names the thread and the start of the turn in it.

use std::sync::Arc;

use crate::protocol::openai::error::ApiError;
use crate::protocol::turn::Turn;
use crate::served::ServedThreads;
use crate::server::{Inner, prefix};

/// The id of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseId {
    /// The part of the id of the thread after the name of its flow.
    own: String,
    /// The number of the last event before the turn.
    after: u64,
}

impl ResponseId {
    pub(super) fn of(turn: &Turn) -> Self {
        let own = turn.thread.rsplit(':').next();
        Self::at(own.unwrap_or(&turn.thread), turn.after)
    }

    fn at(own: &str, after: u64) -> Self {
        ResponseId {
            own: own.to_string(),
            after,
        }
    }

    pub(super) fn parse(id: &str) -> Option<Self> {
        let (own, after) = id.strip_prefix("resp_")?.rsplit_once('_')?;
        let is_hex = own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then_some(Self::at(own, after.parse().ok()?))
    }

    /// The response of the turn in the same thread that began after this event.
    pub(super) fn sibling(&self, after: u64) -> Self {
        Self::at(&self.own, after)
    }

    /// What the ids of the items of the response end with.
    pub(super) fn suffix(&self) -> String {
        format!("{}_{}", self.own, self.after)
    }

    /// The turn of the response, as one of a thread of this flow.
    pub(super) fn turn(&self, flow: &Arc<dyn ServedThreads>) -> Turn {
        let thread = format!("{}{}", prefix(flow.facts()), self.own);
        Turn::attach(flow, thread, self.after)
    }

    /// The turn of the response, and the flow of its thread.
    pub(super) async fn find(
        &self,
        server: &Arc<Inner>,
    ) -> Result<(Turn, Arc<dyn ServedThreads>), ApiError> {
        for flow in &server.settings.flows {
            let turn = self.turn(flow);
            let known =
                server.is_running(&turn.thread) || flow.view(&turn.thread, None).await?.is_some();
            if known {
                return Ok((turn, Arc::clone(flow)));
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
        let id = ResponseId::at("0123456789abcdef0123456789abcdef", 17);
        assert_eq!(ResponseId::parse(&id.to_string()), Some(id));
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
