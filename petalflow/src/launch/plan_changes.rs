//! Changes of the flow's plan by a launch.

use std::sync::Arc;

use super::Launch;
use crate::exec::Settings;
use crate::flow::{AnyFlow, Flow, WithPlan};
use crate::plan::ExecutionPlan;
use crate::policy::Retry;

impl<F: Flow> Launch<F> {
    /// Replaces the retries of the node with this name, for retries that are known only at run time. An empty list
    /// keeps the node's own retries; an unknown name changes nothing.
    ///
    /// Retries that are known at compile time belong in the flow (`with`) or at the node (`#[node(retry = ..)]`).
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use petalflow::prelude::*;
    /// use std::time::Duration;
    ///
    /// #[state]
    /// struct Job {
    ///     attempts: u32,
    /// }
    ///
    /// #[node(Job)]
    /// async fn work(cx: Context) -> petalflow::Result<JobAttempts> {
    ///     if cx.attempt() < 3 { Err("not yet".into()) } else { Ok(JobAttempts(cx.attempt())) }
    /// }
    ///
    /// flow!(Work(Job) { work });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let retries = vec![Retry::attempts(5).first(Duration::ZERO)];
    /// let job = Work::new().with_retry("work", retries).run(()).await?;
    /// assert_eq!(job.attempts, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_retry(self, node: &str, retries: Vec<Retry>) -> Self {
        if retries.is_empty() {
            return self;
        }
        self.change_plan(|plan| plan.retrying(node, retries))
    }

    /// Adds interrupts before and after these nodes, for breakpoints that are known only at run time. An unknown name changes
    /// nothing.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::interrupt::Decision;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Essay {
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write() -> EssayDraft {
    ///     EssayDraft("…".into())
    /// }
    ///
    /// flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = InMemoryStore::new();
    /// let thread = Write::new().with_interrupts(&["write"], &[]).store(&store).thread("petals");
    /// let paused = thread.run(()).await?;
    /// assert_eq!(paused.state().draft, "");
    /// let essay = thread.resume(Decision::approve()).await?.into_finished()?;
    /// assert_eq!(essay.draft, "…");
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_interrupts(self, before: &[&str], after: &[&str]) -> Self {
        if before.is_empty() && after.is_empty() {
            return self;
        }
        self.change_plan(|plan| plan.with_interrupts_at(before, after))
    }

    fn change_plan(mut self, change: impl FnOnce(ExecutionPlan) -> ExecutionPlan) -> Self {
        self.plan = Some(Arc::new(change(Arc::unwrap_or_clone(self.plan()))));
        self
    }

    /// The plan of the runs.
    pub(super) fn plan(&self) -> Arc<ExecutionPlan> {
        match &self.plan {
            Some(plan) => Arc::clone(plan),
            None => self.flow.plan(),
        }
    }

    /// The flow with the plan of the runs, and the settings.
    pub(crate) fn into_any(self) -> (Arc<dyn AnyFlow>, Settings) {
        let flow: Arc<dyn AnyFlow> = match self.plan {
            Some(plan) => Arc::new(WithPlan::new(self.flow, plan)),
            None => self.flow,
        };
        (flow, self.settings)
    }
}
