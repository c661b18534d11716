//! What a client is told while a run is in progress.

use petalflow::event::{EventName, LoggedEvent};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::Value;

/// The progress of a call, if its client wants to know it.
pub(super) struct Progress {
    client: Option<(ProgressToken, Peer<RoleServer>)>,
    /// The number of the last event before the run.
    after: u64,
}

/// An event, as far as people are told of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    task: Option<Task>,
    value: Value,
}

#[derive(Deserialize)]
struct Task {
    node: String,
}

impl Progress {
    pub(super) fn of(cx: &RequestContext<RoleServer>, after: u64) -> Self {
        let token = cx.meta.get_progress_token();
        Progress {
            client: token.map(|token| (token, cx.peer.clone())),
            after,
        }
    }

    /// Tells the client of an event.
    pub(super) async fn tell(&mut self, event: &LoggedEvent) {
        let Some((token, peer)) = &self.client else {
            return;
        };
        let Some(message) = message(event) else {
            return;
        };
        // The number of an event grows, as progress must.
        let number = event.number.saturating_sub(self.after);
        #[expect(clippy::cast_precision_loss, reason = "no log has 2^53 events")]
        let mut told = ProgressNotificationParam::new(token.clone(), number as f64);
        told.message = Some(message);
        // Ignored: a client that disconnected does not read the result either.
        let _ = peer.notify_progress(told).await;
    }
}

/// The words for a person. `None` if the event says nothing to people.
fn message(event: &LoggedEvent) -> Option<String> {
    let Told { task, value } = event.value.decode().ok()?;
    let node = || task.map(|task| task.node);
    match event.name()? {
        EventName::NodeStarted => Some(format!("`{}` begins", node()?)),
        EventName::NodeFinished => Some(format!("`{}` has finished", node()?)),
        EventName::Retry => Some(format!("`{}` has failed, and is tried again", node()?)),
        EventName::Custom => match value {
            Value::String(text) => Some(text),
            value => Some(value.get("message")?.as_str()?.to_string()),
        },
        _ => None,
    }
}
