//! Which threads wait for a person although they work, so that the inbox lists them.
//!
//! A node asks while others of its superstep run. The status of such a thread is `running`, which the index of threads does not have
//! while the run makes steps. So a label says that the thread asks. It is set when a run of this server tells a question while other
//! nodes run, and removed when the run or its answer has ended. It is a hint: what a thread waits for is read from the thread.

use std::sync::Arc;

use petalflow::checkpoint::{Store as _, ThreadChange, ThreadFilter, ThreadInfo, ThreadStatus};

use crate::refusal::Refusal;
use crate::server::Inner;
use crate::start_lock::StartLock;

/// The label of a thread that works and asks.
const LABEL: &str = "petalflow.asks";

/// Its only value.
const ASKS: &str = "1";

/// The threads that work and ask.
pub(crate) const ASKING: ThreadFilter<'static> = ThreadFilter::Label(LABEL, ASKS);

/// Whether a thread is listed as one that works and asks.
pub(crate) fn is_asking(info: &ThreadInfo) -> bool {
    info.labels.contains_key(LABEL)
}

impl Inner {
    /// A run of this process has told a question while other nodes run.
    pub(crate) fn run_asks(self: &Arc<Self>, thread: &str) {
        self.asking().insert(thread.to_string());
        self.settle_asking_soon(thread.to_string());
    }

    /// A run of this process has ended: that of a thread, or of an answer to a thread that works.
    pub(crate) fn run_asks_no_more(self: &Arc<Self>, thread: &str) {
        if self.asking().contains(thread) {
            self.settle_asking_soon(thread.to_string());
        }
    }

    /// Sets the label of a thread that works and asks, and removes it from another one.
    pub(crate) fn settle_asking_soon(self: &Arc<Self>, thread: String) {
        let server = Arc::clone(self);
        self.spawn(async move {
            // What fails is done at the end of the run, or by the next look at the inbox.
            let _ = server.settle_asking(&thread).await;
        });
    }

    async fn settle_asking(self: &Arc<Self>, thread: &str) -> Result<(), Refusal> {
        // Requests change the labels too.
        let _lock = StartLock::of_requests(self, thread).await?;
        // It is read first: a run that ends later looks again.
        let is_running = self.is_running(thread);
        let info = self.info(thread).await?;
        if let Some(mut info) = info {
            let asks = info.status == ThreadStatus::Running && self.has_question(thread).await?;
            if asks != is_asking(&info) {
                if asks {
                    info.labels.insert(LABEL.to_string(), ASKS.to_string());
                } else {
                    info.labels.remove(LABEL);
                }
                let labels = ThreadChange::Labels(&info.labels);
                self.settings.store.describe(thread, labels, None).await?;
            }
        }
        if !is_running {
            self.asking().remove(thread);
        }
        Ok(())
    }

    /// Whether a thread has a question that is open.
    async fn has_question(&self, thread: &str) -> Result<bool, Refusal> {
        let flow = self.reader(thread).await?;
        let view = flow.view(thread, None).await?;
        let waits = view.as_ref().and_then(|view| view["waits"].as_array());
        Ok(waits.is_some_and(|waits| !waits.is_empty()))
    }
}
