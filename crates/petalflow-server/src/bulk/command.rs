//! What a command does with one thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::served::{Stop, no_thread};
use crate::server::Inner;

/// How long a thread is waited for that another process runs. It stops later, if it has not stopped then.
const STOP_WAIT: Duration = Duration::from_secs(2);
/// The time until a thread is resumed again for which there was no permission to run.
const RETRY_WAIT: Duration = Duration::from_millis(50);

/// A command. To give it twice to a thread is harmless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command {
    Cancel,
    Hold,
    Resume,
    Delete,
    /// Sets these labels, and removes those without a value. Others stay.
    Label(BTreeMap<String, Option<String>>),
}

impl Command {
    /// Gives a thread the command.
    pub(super) async fn give(&self, server: &Arc<Inner>, thread: &str) -> Result<(), Refusal> {
        match self {
            Command::Cancel => server
                .stop_run(thread, Stop::Cancel, STOP_WAIT)
                .await
                .map(drop),
            Command::Hold => server
                .stop_run(thread, Stop::Hold, STOP_WAIT)
                .await
                .map(drop),
            Command::Resume => resume(server, thread).await,
            Command::Delete => delete(server, thread).await,
            Command::Label(labels) => label(server, thread, labels).await,
        }
    }
}

/// Resumes a thread. While the server runs as many as it may, it waits.
async fn resume(server: &Arc<Inner>, thread: &str) -> Result<(), Refusal> {
    let flow = server.owner(thread).await?;
    loop {
        // The command may have been given before.
        if server.is_running(thread) {
            return Ok(());
        }
        // One of the runs is that of the command.
        let has_permit = server.runs.available_permits() > 0;
        if has_permit || server.settings.limits.max_runs < 2 || server.is_stopping() {
            let (id, flow) = (thread.to_string(), Arc::clone(&flow));
            let resume = async move |token| flow.resume(&id, &token).await;
            return server.begin_once(None, thread, resume).await;
        }
        tokio::time::sleep(RETRY_WAIT).await;
    }
}

/// Deletes a thread. One that is not there any more was deleted before.
async fn delete(server: &Arc<Inner>, thread: &str) -> Result<(), Refusal> {
    if server.info(thread).await?.is_none() {
        return Ok(());
    }
    let (flow, thread) = (server.owner(thread).await?, thread.to_string());
    let deleted = async move { Ok(flow.delete(&thread).await?) };
    server.run_detached(deleted).await
}

async fn label(
    server: &Arc<Inner>,
    thread: &str,
    changes: &BTreeMap<String, Option<String>>,
) -> Result<(), Refusal> {
    let flow = server.owner(thread).await?;
    let mut labels = server.info(thread).await?.ok_or_else(no_thread)?.labels;
    for (name, value) in changes {
        match value {
            Some(value) => labels.insert(name.clone(), value.clone()),
            None => labels.remove(name),
        };
    }
    flow.set_labels(thread, labels).await
}
