//! The administration of a Restate server.

#[cfg(feature = "server")]
use std::collections::BTreeMap;

use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::RestateError;
use crate::http::{Http, encoded};
#[cfg(feature = "server")]
use crate::thread_state::Listed;
use crate::trouble::Trouble;

/// The administration of a Restate server, which has no authentication: only operators may reach it.
///
/// ```no_run
/// # async fn deploy() -> Result<(), petalflow_restate::RestateError> {
/// petalflow_restate::Admin::new("http://127.0.0.1:9070").register("http://10.0.0.7:9080").await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Admin {
    http: Http,
}

/// Something that a version of a program still does, in the list of [`Admin::invocations`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invocation {
    /// Its id in Restate.
    pub id: String,
    /// The service.
    pub service: String,
    /// The thread, if it is a superstep or another call of one. A placed task has none.
    pub thread: Option<String>,
    /// The handler: `advance` executes a superstep, `run` a placed task.
    pub handler: String,
    /// What it does, in the words of Restate: `running`, `suspended`, `backing-off`, `paused`.
    pub status: String,
}

impl Admin {
    /// The administration at this address.
    pub fn new(url: impl Into<String>) -> Self {
        Admin {
            http: Http::new(url),
        }
    }

    /// Sends a header with each request, such as a key. Its value is in no error and in no `Debug` output.
    ///
    /// # Errors
    ///
    /// It cannot be a header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, RestateError> {
        self.http = self.http.header(name, value)?;
        Ok(self)
    }

    /// Registers an endpoint, which becomes the newest version of its services. Further supersteps run there. Each version of a
    /// program has an address of its own, because an invocation in progress ends where it has begun. An address that was registered
    /// before stays as it is: [`roll_back`](Self::roll_back) makes it the newest again.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or cannot reach the endpoint.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the endpoint is registered or not. Registering it again changes nothing.
    pub async fn register(&self, endpoint: &str) -> Result<(), RestateError> {
        self.register_with(endpoint, false).await
    }

    /// Makes an endpoint that was registered earlier the newest version of its services again. The same program must listen there as
    /// before: what is in progress there goes on.
    ///
    /// ```no_run
    /// # async fn repair() -> Result<(), petalflow_restate::RestateError> {
    /// let admin = petalflow_restate::Admin::new("http://127.0.0.1:9070");
    /// admin.register("http://driver-4.internal:9080").await?;
    /// admin.roll_back("http://driver-3.internal:9080").await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The endpoint was never registered; the server cannot be reached, or cannot reach the endpoint.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it is the newest or not. Rolling back again changes nothing.
    pub async fn roll_back(&self, endpoint: &str) -> Result<(), RestateError> {
        self.deployment(endpoint).await?;
        self.register_with(endpoint, true).await
    }

    /// Registers a changed endpoint at an address that was registered before: for tests. Invocations in progress fail until they are
    /// killed, if their steps differ.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register).
    pub async fn replace(&self, endpoint: &str) -> Result<(), RestateError> {
        self.register_with(endpoint, true).await
    }

    /// What still runs on a version: the process at this address can be stopped when the list is empty. A thread that waits for a person
    /// is not in it, because its next superstep runs on the newest version.
    ///
    /// ```no_run
    /// # async fn stop_the_old_one() -> Result<(), petalflow_restate::RestateError> {
    /// let admin = petalflow_restate::Admin::new("http://127.0.0.1:9070");
    /// for invocation in admin.invocations("http://driver-3.internal:9080").await? {
    ///     println!("{:?}: {}", invocation.thread, invocation.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The endpoint was never registered, or the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn invocations(&self, endpoint: &str) -> Result<Vec<Invocation>, RestateError> {
        let deployment = self.deployment(endpoint).await?;
        let pinned = format!("pinned_deployment_id = {}", quoted(&deployment));
        let rows = self.invocations_where(&pinned).await?;
        let invocation = |row: InvocationRow| Invocation {
            id: row.id,
            service: row.target_service_name,
            thread: row.target_service_key,
            handler: row.target_handler_name,
            status: row.status,
        };
        Ok(rows.into_iter().map(invocation).collect())
    }

    /// Why a thread does not go on that runs.
    pub(crate) async fn trouble(
        &self,
        service: &str,
        thread: &str,
    ) -> Result<Option<Trouble>, RestateError> {
        let of_thread = format!(
            "target_service_name = {} AND target_service_key = {}",
            quoted(service),
            quoted(thread)
        );
        let own = self.invocations_where(&of_thread).await?;
        let advancing = own
            .iter()
            .find(|row| row.target_handler_name == "advance" && row.status != "pending");
        let Some(advancing) = advancing else {
            return Ok(None);
        };
        let called = format!("invoked_by_id = {}", quoted(&advancing.id));
        let called = match advancing.status.as_str() {
            "suspended" | "running" => self.invocations_where(&called).await?,
            _ => Vec::new(),
        };
        let all = [advancing].into_iter().chain(&called);
        let trouble = all.filter_map(InvocationRow::trouble);
        match trouble.max_by_key(Trouble::weight) {
            Some(trouble) => Ok(Some(self.with_cause(trouble).await?)),
            None => Ok(None),
        }
    }

    /// Why threads of a service do not go on that run, by their ids.
    #[cfg(feature = "server")]
    pub(crate) async fn troubles(
        &self,
        service: &str,
    ) -> Result<BTreeMap<String, Trouble>, RestateError> {
        let troubled = "status IN ('backing-off', 'paused')";
        let service_name = quoted(service);
        let own = format!(
            "target_service_name = {service_name} AND target_handler_name = 'advance' AND {troubled}"
        );
        let called = format!("invoked_by_service_name = {service_name} AND {troubled}");
        let mut found: BTreeMap<String, Trouble> = BTreeMap::new();
        for (condition, is_own) in [(own, true), (called, false)] {
            for row in self.invocations_where(&condition).await? {
                let Some(trouble) = row.trouble() else {
                    continue;
                };
                let thread = if is_own {
                    row.target_service_key
                } else {
                    row.advancing_caller(service)
                };
                let Some(thread) = thread else { continue };
                let known = found.get(&thread);
                if known.is_none_or(|known| known.weight() < trouble.weight()) {
                    found.insert(thread, trouble);
                }
            }
        }
        for trouble in found.values_mut() {
            *trouble = self.with_cause(trouble.clone()).await?;
        }
        Ok(found)
    }

    /// The trouble with its cause, which Restate keeps elsewhere after a pause.
    async fn with_cause(&self, mut trouble: Trouble) -> Result<Trouble, RestateError> {
        if trouble.cause.is_empty() {
            trouble.cause = self.cause_of_pause(&trouble.invocation).await?;
        }
        Ok(trouble)
    }

    /// Why Restate has paused an invocation. It forgets what it lists of the failures then. Empty if it does not say.
    async fn cause_of_pause(&self, invocation: &str) -> Result<String, RestateError> {
        let query = format!(
            "SELECT event_json FROM sys_journal_events WHERE id = {} AND event_type = 'Paused' ORDER BY appended_at DESC LIMIT 1",
            quoted(invocation)
        );
        let newest: Option<EventRow> = self.query(&query).await?.pop();
        let event = newest.and_then(|row| serde_json::from_str(&row.event_json).ok());
        let event: Value = event.unwrap_or_default();
        let cause = event["last_failure"]["error_message"].as_str();
        Ok(cause.unwrap_or_default().into())
    }

    /// Lets Restate try an invocation again now.
    pub(crate) async fn resume(&self, invocation: &str) -> Result<(), RestateError> {
        let path = format!("invocations/{}/resume", encoded(invocation));
        self.http.patch(&path).await
    }

    /// The invocations that have not ended and fulfil a condition.
    async fn invocations_where(&self, condition: &str) -> Result<Vec<InvocationRow>, RestateError> {
        self.query(&format!(
            "SELECT id, target_service_name, target_service_key, target_handler_name, invoked_by_target, status, retry_count, last_failure, \
             CAST(next_retry_at AS BIGINT) AS next_retry_ms \
             FROM sys_invocation WHERE {condition} AND status <> 'completed'"
        ))
        .await
    }

    /// The id of the deployment at an address.
    async fn deployment(&self, endpoint: &str) -> Result<String, RestateError> {
        let query = format!(
            "SELECT id FROM sys_deployment WHERE endpoint IN ({}, {})",
            quoted(endpoint.trim_end_matches('/')),
            quoted(&format!("{}/", endpoint.trim_end_matches('/')))
        );
        let found: Vec<DeploymentRow> = self.query(&query).await?;
        let found = found.into_iter().next().map(|row| row.id);
        found.ok_or_else(|| RestateError::NotRegistered(endpoint.into()))
    }

    async fn register_with(&self, endpoint: &str, force: bool) -> Result<(), RestateError> {
        let body = json!({ "uri": endpoint, "force": force });
        let registered = self.http.json(Method::POST, "deployments", &body);
        registered.await.map(drop)
    }

    async fn query<T: DeserializeOwned>(&self, query: &str) -> Result<Vec<T>, RestateError> {
        let body = json!({ "query": query });
        let answer = self.http.json(Method::POST, "query", &body).await?;
        let rows: Rows<T> = serde_json::from_slice(&answer).map_err(damaged)?;
        Ok(rows.rows)
    }

    /// A page of the threads of a service whose keys begin with this text and are greater than `after`, in the order of their keys.
    #[cfg(feature = "server")]
    pub(crate) async fn listed(
        &self,
        service: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<petalflow::checkpoint::ThreadInfo>, RestateError> {
        let after = after.map_or_else(String::new, |after| {
            format!(" AND service_key > {}", quoted(after))
        });
        let query = format!(
            "SELECT service_key, value_utf8 FROM state WHERE service_name = {} AND key = {} AND starts_with(service_key, {}){after} \
             ORDER BY service_key LIMIT {limit}",
            quoted(service),
            quoted(crate::driver::LISTED),
            quoted(prefix)
        );
        let listed = self.query(&query).await?.into_iter().map(|row: StateRow| {
            let listed: Listed = serde_json::from_str(&row.value_utf8).map_err(damaged)?;
            Ok(listed.into_info(row.service_key))
        });
        listed.collect()
    }
}

fn damaged(error: serde_json::Error) -> RestateError {
    petalflow::engine::RecordsError::Damaged(format!("what the server lists: {error}")).into()
}

/// A text as SQL writes it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[derive(Deserialize)]
struct Rows<T> {
    rows: Vec<T>,
}

#[derive(Deserialize)]
struct DeploymentRow {
    id: String,
}

#[derive(Deserialize)]
struct EventRow {
    event_json: String,
}

#[derive(Deserialize)]
struct InvocationRow {
    id: String,
    target_service_name: String,
    #[serde(default)]
    target_service_key: Option<String>,
    target_handler_name: String,
    #[serde(default)]
    invoked_by_target: Option<String>,
    status: String,
    #[serde(default)]
    retry_count: Option<u64>,
    #[serde(default)]
    last_failure: Option<String>,
    #[serde(default)]
    next_retry_ms: Option<u64>,
}

impl InvocationRow {
    /// The thread of a service whose superstep has called this.
    #[cfg(feature = "server")]
    fn advancing_caller(&self, service: &str) -> Option<String> {
        let caller = self.invoked_by_target.as_deref()?;
        let thread = caller.strip_prefix(service)?.strip_prefix('/')?;
        thread.strip_suffix("/advance").map(String::from)
    }

    /// Why it does not go on. `None` if it does.
    fn trouble(&self) -> Option<Trouble> {
        let is_paused = self.status == "paused";
        (is_paused || self.status == "backing-off").then(|| Trouble {
            service: self.target_service_name.clone(),
            attempts: self.retry_count.unwrap_or_default(),
            is_paused,
            cause: self.last_failure.clone().unwrap_or_default(),
            next_ms: self.next_retry_ms.filter(|_| !is_paused),
            invocation: self.id.clone(),
        })
    }
}

#[cfg(feature = "server")]
#[derive(Deserialize)]
struct StateRow {
    service_key: String,
    value_utf8: String,
}
