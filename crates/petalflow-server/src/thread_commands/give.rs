//! What a command does with the threads of a server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{ThreadFilter, ThreadInfo, ThreadQuery};

use crate::access::Access;
use crate::bulk::{Command, Commanded, Page};
use crate::refusal::Refusal;
use crate::served::{Stop, no_thread};
use crate::server::Inner;
use crate::threads::conditions::{Conditions, Filters, checked_flow_ids};

/// How long a thread is waited for that another process runs. It stops later, if it has not stopped then.
const STOP_WAIT: Duration = Duration::from_secs(2);
/// The time until a thread is resumed again for which there was no permission to run.
const RETRY_WAIT: Duration = Duration::from_millis(50);

#[async_trait]
impl Commanded for Inner {
    async fn page(
        &self,
        conditions: &str,
        label: Option<(&str, &str)>,
        after: &str,
        limit: usize,
    ) -> Result<Page, String> {
        let access = match label {
            Some((name, value)) => Access::label(name, value),
            None => Access::All,
        };
        let listed = list(self, conditions, &access, after, limit).await;
        let listed = listed.map_err(|refusal| refusal.text().to_string())?;
        let last = listed.last().map(|info| info.id.clone());
        // A store lists a damaged thread whatever its labels are.
        let is_seen = |info: &ThreadInfo| {
            access.allows(&info.labels) && self.flow_of(info).is_some() && info.damage.is_none()
        };
        let threads = listed.into_iter().filter(is_seen).map(|info| info.id);
        Ok(Page {
            threads: threads.collect(),
            last,
        })
    }

    async fn give(self: Arc<Self>, command: &Command, thread: &str) -> Result<(), String> {
        let given = match command {
            Command::Cancel => stop(&self, thread, Stop::Cancel).await,
            Command::Hold => stop(&self, thread, Stop::Hold).await,
            Command::Resume => resume(&self, thread).await,
            Command::Delete => delete(&self, thread).await,
            Command::Label(labels) => label(&self, thread, labels).await,
        };
        given.map_err(|refusal| refusal.text().to_string())
    }
}

async fn list(
    server: &Inner,
    conditions: &str,
    access: &Access,
    after: &str,
    limit: usize,
) -> Result<Vec<ThreadInfo>, Refusal> {
    let conditions = Conditions::of_query(conditions)?;
    let flows = checked_flow_ids(server, &conditions)?;
    let filters = Filters::new(&conditions, &flows);
    let all: Vec<ThreadFilter<'_>> = filters.all(&conditions);
    let query = ThreadQuery {
        after: Some(after).filter(|after| !after.is_empty()),
        limit: Some(limit),
        ..filters.query(&conditions, &all, access)?
    };
    Ok(server.list(query).await?)
}

async fn stop(server: &Arc<Inner>, thread: &str, stop: Stop) -> Result<(), Refusal> {
    server.stop_run(thread, stop, STOP_WAIT).await.map(drop)
}

/// Resumes a thread. While the server runs as many as it may, it waits.
async fn resume(server: &Arc<Inner>, thread: &str) -> Result<(), Refusal> {
    let flow = server.owner(thread).await?;
    loop {
        // The command may have been given before.
        if server.is_running(thread) {
            return Ok(());
        }
        let (id, flow) = (thread.to_string(), Arc::clone(&flow));
        let resume = async move |token| flow.resume(&id, &token).await;
        let begun = server.begin_once(None, thread, resume).await;
        // One of the runs is that of the command, so a server that may have one only never has room.
        let may_wait = server.settings.limits.max_runs > 1 && !server.is_stopping();
        match begun {
            Err(refusal) if may_wait && refusal.is_of_too_many_runs() => {}
            begun => return begun,
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
