//! Threads on a server.

use std::collections::BTreeMap;
use std::time::Duration;

use petalflow::checkpoint::{Attribute, ThreadCount, ThreadInfo, ThreadOrder, ThreadStatus};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Server;
use super::filter::FilterArgs;
use super::listing::{Next, Page};
use super::stop::Stop;
use crate::exit::{Exit, Failure, Result};

/// The most threads of a page of a server.
const MAX_PAGE: usize = 1_000;

/// How long a command waits between two looks at a thread that stops.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The threads of a server.
pub(super) struct Remote<'s>(pub(super) &'s Server);

impl Remote<'_> {
    pub(super) async fn page(
        &self,
        filter: &FilterArgs,
        order: ThreadOrder,
        after: Option<&Next>,
        limit: usize,
    ) -> Result<Page> {
        let mut query = filter.pairs();
        query.push(("order", order_name(order).into()));
        query.push(("limit", limit.clamp(1, MAX_PAGE).to_string()));
        if let Some(Next::Place(place)) = after {
            query.push(("after", place.clone()));
        }
        let page = self.0.get(&["threads"], &query).await?;
        let threads = page["threads"].as_array().into_iter().flatten();
        let next = page["next"].as_str().map(|next| Next::Place(next.into()));
        Ok(Page {
            threads: threads.map(info).collect::<Result<_>>()?,
            next,
        })
    }

    pub(super) async fn counts(&self, filter: &FilterArgs) -> Result<Vec<ThreadCount>> {
        let counts = self.0.get(&["thread-counts"], &filter.pairs()).await?;
        let counts = counts["counts"].as_array().into_iter().flatten();
        let count = |count: &Value| {
            Ok(ThreadCount {
                flow: text(count, "flow"),
                status: status(count)?,
                threads: number(count, "threads"),
            })
        };
        counts.map(count).collect()
    }

    pub(super) async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus> {
        let command = match stop {
            Stop::Cancel => "cancel",
            Stop::Hold => "hold",
            Stop::Drain => "drain",
        };
        let stopped = self
            .command(Method::POST, thread, command, &Value::Null)
            .await;
        match stopped {
            Ok(stopped) if stopped["status"].is_string() => status(&stopped),
            // It stops later.
            Ok(_) => self.rest(thread).await,
            // A store says of a thread that has ended which status it has, and a server refuses to stop it.
            Err(failure) => match self.status(thread).await {
                Ok(status @ (ThreadStatus::Finished | ThreadStatus::Failed)) => Ok(status),
                _ => Err(failure),
            },
        }
    }

    /// The thread as one file. The server removes its secrets.
    pub(super) async fn export(&self, thread: &str) -> Result<Value> {
        self.0.get(&["threads", thread, "export"], &[]).await
    }

    pub(super) async fn delete(&self, thread: &str) -> Result<()> {
        let path = ["threads", thread];
        self.0.send(Method::DELETE, &path, &Value::Null).await?;
        Ok(())
    }

    pub(super) async fn set_labels(
        &self,
        thread: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<()> {
        self.command(Method::PUT, thread, "labels", &json!(labels))
            .await?;
        Ok(())
    }

    pub(super) async fn follow(
        &self,
        thread: &str,
        number: u64,
        mut show: impl FnMut(&Value) -> Result<()>,
    ) -> Result<()> {
        let mut events = self.0.events(thread, number).await?;
        while let Some(event) = events.next().await? {
            show(&event)?;
        }
        Ok(())
    }

    async fn command(
        &self,
        method: Method,
        thread: &str,
        command: &str,
        body: &Value,
    ) -> Result<Value> {
        let path = ["threads", thread, command];
        self.0.send(method, &path, body).await
    }

    async fn status(&self, thread: &str) -> Result<ThreadStatus> {
        status(&self.0.get(&["threads", thread], &[]).await?)
    }

    /// The status of a thread when no run has it.
    async fn rest(&self, thread: &str) -> Result<ThreadStatus> {
        loop {
            match self.status(thread).await? {
                ThreadStatus::Running => tokio::time::sleep(LOOK_INTERVAL).await,
                status => return Ok(status),
            }
        }
    }
}

/// What a server lists of a thread.
fn info(listed: &Value) -> Result<ThreadInfo> {
    let labels = listed["labels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into())));
    let attributes = listed["attributes"].as_object().into_iter().flatten();
    let attributes =
        attributes.filter_map(|(name, value)| Some((name.clone(), Attribute::from_json(value)?)));
    Ok(ThreadInfo {
        id: text(listed, "id"),
        checkpoints: number(listed, "checkpoints"),
        bytes: number(listed, "bytes"),
        created_ms: number(listed, "created_ms"),
        updated_ms: number(listed, "updated_ms"),
        flow: text(listed, "flow"),
        status: status(listed)?,
        due_ms: listed["due_ms"].as_u64(),
        labels: labels.collect(),
        attributes: attributes.collect(),
        damage: listed["damage"].as_str().map(str::to_owned),
    })
}

/// The name of an order over HTTP.
fn order_name(order: ThreadOrder) -> &'static str {
    match order {
        ThreadOrder::Id => "id",
        ThreadOrder::CreatedNewest => "created-newest",
        ThreadOrder::CreatedOldest => "created-oldest",
        ThreadOrder::UpdatedNewest => "updated-newest",
        ThreadOrder::UpdatedOldest => "updated-oldest",
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().into()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

fn status(value: &Value) -> Result<ThreadStatus> {
    let name = value["status"].as_str().unwrap_or_default();
    ThreadStatus::named(name).ok_or_else(|| {
        let text = format_args!("the server says that a thread is `{name}`, which is no status");
        Failure::new(Exit::Thread, text)
    })
}
