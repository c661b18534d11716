//! Responses that are not stored.

use std::sync::Arc;

use futures_util::StreamExt;

use crate::protocol::queued::Begun;
use crate::protocol::turn::ItemKind;
use crate::server::Inner;

/// Deletes the thread of a request once its turn has ended and nobody reads it any more, unless it waits for the client.
pub(super) struct Forget {
    server: Arc<Inner>,
    begun: Begun,
}

impl Forget {
    pub(super) fn new(server: &Arc<Inner>, begun: &Begun) -> Self {
        Forget {
            server: Arc::clone(server),
            begun: begun.clone(),
        }
    }
}

impl Drop for Forget {
    fn drop(&mut self) {
        let (server, begun) = (Arc::clone(&self.server), self.begun.clone());
        self.server.spawn(async move {
            // A thread whose queued message has no turn stays.
            let Ok(Some(turn)) = begun.wait(&server).await else {
                return;
            };
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
