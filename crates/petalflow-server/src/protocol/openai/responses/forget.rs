//! Responses that are not stored.

use std::sync::Arc;

use futures_util::StreamExt;

use crate::protocol::turn::{ItemKind, Turn};
use crate::server::Inner;

/// Deletes the thread of a turn once nobody reads it any more and it has ended, unless it waits for the client.
pub(super) struct Forget {
    server: Arc<Inner>,
    turn: Turn,
}

impl Forget {
    pub(super) fn new(server: &Arc<Inner>, turn: &Turn) -> Self {
        Forget {
            server: Arc::clone(server),
            turn: turn.clone(),
        }
    }
}

impl Drop for Forget {
    fn drop(&mut self) {
        let (server, turn) = (Arc::clone(&self.server), self.turn.clone());
        self.server.spawn(async move {
            let mut items = turn.items(&server);
            while let Some(Ok(item)) = items.next().await {
                let ItemKind::End(end) = item.kind else {
                    continue;
                };
                if end.turn.pending.is_empty() && end.questions.is_empty() {
                    // A thread that cannot be deleted now stays. It is listed as any other.
                    let _ = turn.delete().await;
                }
            }
        });
    }
}
