//! Begins the threads of schedules at their times.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::Notice;
use crate::refusal::Refusal;
use crate::schedule::{Handled, ReadSchedule, Schedule};
use crate::served::{Input, Labels};
use crate::server::{Inner, Server};
use crate::start_lock::StartLock;
use crate::threads::{labels, start};

/// The longest time between two looks at the schedules: the clock of the machine may be set.
const MAX_WAIT: Duration = Duration::from_secs(30);
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
        for schedule in &schedules.schedules {
            match self.begin_due(schedule).await {
                Ok(next) => wait = wait.min(next),
                Err(refusal) => {
                    let (schedule, problem) = (schedule.schedule.name(), refusal.text());
                    self.notify(Notice::NotScheduled { schedule, problem });
                    wait = wait.min(RETRY_WAIT);
                }
            }
        }
        wait
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
        let flow = Arc::clone(self.flow(schedule.flow())?);
        let id = format!("{}@{time}", schedule.name());
        let thread = format!("{}{id}", crate::server::prefix(flow.facts()));
        let name = schedule.name().to_string();
        let input = Input {
            value: schedule.input_value().into(),
            labels: Labels::from([(labels::SCHEDULE.to_string(), name)]),
            discards: false,
            rolls_back: false,
        };
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
}
