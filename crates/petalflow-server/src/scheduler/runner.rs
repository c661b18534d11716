//! Begins the threads of schedules at their times.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::Notice;
use crate::refusal::Refusal;
use crate::schedule::{Handled, ReadSchedule, Schedule};
use crate::served::{Input, Labels, ServedThreads};
use crate::server::{Inner, Server};
use crate::start_lock::StartLock;
use crate::threads::{labels, start};

/// The longest time between two looks at the schedules: the clock of the machine may be set, and clients of other processes may
/// define schedules.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// The time until a thread that could not be begun is tried again.
const RETRY_WAIT: Duration = Duration::from_secs(5);

impl Server {
    /// Begins the threads of the [schedules](crate::ServerBuilder::schedule) at their times, until the server
    /// [drains](Self::drain). [`serve`](Self::serve) calls it. Spawn it in a server of your own.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
    /// let schedules = tokio::spawn({
    ///     let server = server.clone();
    ///     async move { server.run_schedules().await }
    /// });
    /// server.drain(Duration::from_secs(30)).await;
    /// schedules.await.expect("it does not panic");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future begins no further threads. A thread that was being begun is stored, or begun by the next call.
    pub async fn run_schedules(&self) {
        let server = self.inner();
        while !server.is_stopping() {
            let wait = server.begin_scheduled().await;
            tokio::select! {
                () = server.stopping.cancelled() => return,
                () = server.settings.schedules.changed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

impl Inner {
    /// Begins the threads whose times have come, and returns how long there is nothing to do.
    async fn begin_scheduled(self: &Arc<Self>) -> Duration {
        let schedules = &self.settings.schedules;
        let mut wait = MAX_WAIT;
        for schedule in &schedules.of_program {
            let begun = self.begin_due(schedule).await;
            wait = wait.min(self.waits(schedule.schedule.name(), begun));
        }
        // Without the addresses of threads, no client defines one.
        if self.settings.threads.is_none() {
            return wait;
        }
        match schedules.defined().await {
            Ok(names) => {
                for name in names {
                    let begun = self.begin_defined(&name).await;
                    wait = wait.min(self.waits(&name, begun));
                }
                wait
            }
            Err(refusal) => wait.min(self.waits("", Err(refusal))),
        }
    }

    async fn begin_defined(self: &Arc<Self>, name: &str) -> Result<Duration, Refusal> {
        self.begin_due(&*self.schedule(name).await?).await
    }

    /// How long there is nothing to do for a schedule, of which this has become. Tells the program of a failure.
    fn waits(&self, schedule: &str, begun: Result<Duration, Refusal>) -> Duration {
        begun.unwrap_or_else(|refusal| {
            let problem = refusal.text();
            self.notify(Notice::NotScheduled { schedule, problem });
            RETRY_WAIT
        })
    }

    /// The schedule with this name.
    pub(super) async fn schedule(&self, name: &str) -> Result<Arc<ReadSchedule>, Refusal> {
        let settings = &self.settings;
        settings.schedules.find(name, &settings.flows).await
    }

    /// The schedules of the program, and those of clients whose flows are served here.
    pub(super) async fn all_schedules(&self) -> Result<Vec<Arc<ReadSchedule>>, Refusal> {
        let schedules = &self.settings.schedules;
        let mut all = schedules.of_program.clone();
        for name in schedules.defined().await? {
            all.extend(self.schedule(&name).await.ok());
        }
        Ok(all)
    }

    /// Begins the threads of a schedule whose times have come, and returns how long it is until the next one. All times are those of the
    /// store, so that a process whose clock is wrong begins nothing too early.
    async fn begin_due(self: &Arc<Self>, read: &ReadSchedule) -> Result<Duration, Refusal> {
        let records = &self.settings.schedules.records;
        let schedule = &read.schedule;
        let now = records.now().await?;
        let record = records.load(schedule.name(), now).await?;
        if !record.paused {
            let handled = match record.handled(now) {
                Handled::Until(handled) => handled,
                Handled::Ahead(stored) => {
                    self.notify(Notice::ClockAhead {
                        schedule: schedule.name(),
                        stored: &stored.to_string(),
                        now: &now.to_string(),
                    });
                    records.set_handled(schedule.name(), now).await?;
                    now
                }
            };
            for time in read.plan.due(handled, now, schedule.missed_times()) {
                self.begin_planned(schedule, time).await?;
                records.set_handled(schedule.name(), time).await?;
            }
        }
        let now = records.now().await?;
        let next = read.plan.after(now).next();
        let wait = next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
        Ok(wait.unwrap_or(MAX_WAIT))
    }

    /// Begins the thread of a planned time, if no process has begun it. Returns its id.
    pub(super) async fn begin_planned(
        self: &Arc<Self>,
        schedule: &Schedule,
        time: Timestamp,
    ) -> Result<String, Refusal> {
        self.begin_named(schedule, &time.to_string()).await
    }

    /// Begins the thread with this name, which is that of a planned time or of a request, if no process has begun it. Returns its id.
    pub(super) async fn begin_named(
        self: &Arc<Self>,
        schedule: &Schedule,
        name: &str,
    ) -> Result<String, Refusal> {
        let (flow, thread, input) = self.named(schedule, name)?;
        let server = Arc::clone(self);
        self.run_detached(async move {
            let _lock = StartLock::take(&server, &thread).await?;
            if server.info(&thread).await?.is_none() {
                start::store(&server, &*flow, &thread, input).await?;
            }
            Ok(thread)
        })
        .await
    }

    /// Begins the thread of a planned time that has passed, if no process has begun it. Returns its id. The thread is due, so that as
    /// many run at the same time as the limits allow.
    pub(super) async fn begin_missed(
        self: &Arc<Self>,
        schedule: &Schedule,
        time: Timestamp,
    ) -> Result<Option<String>, Refusal> {
        let (flow, thread, input) = self.named(schedule, &time.to_string())?;
        let _lock = StartLock::take(self, &thread).await?;
        if self.info(&thread).await?.is_some() {
            return Ok(None);
        }
        if flow.elsewhere().is_some() {
            // Its engine has limits of its own.
            start::store(self, &*flow, &thread, input).await?;
        } else {
            self.must_accept()?;
            flow.begin_at(&thread, input, time.into()).await?;
            self.notify(Notice::Accepted { thread: &thread });
        }
        Ok(Some(thread))
    }

    /// The flow, the id and the input of the thread with this name.
    fn named(
        &self,
        schedule: &Schedule,
        name: &str,
    ) -> Result<(Arc<dyn ServedThreads>, String, Input), Refusal> {
        let flow = Arc::clone(self.flow(schedule.flow())?);
        let prefix = crate::server::prefix(flow.facts());
        let thread = format!("{prefix}{}@{name}", schedule.name());
        let name = schedule.name().to_string();
        let input = Input {
            value: schedule.input_value().into(),
            labels: Labels::from([(labels::SCHEDULE.to_string(), name)]),
            discards: false,
            rolls_back: false,
            message: None,
        };
        Ok((flow, thread, input))
    }
}
