//! Claims on threads.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::answered::check_unanswered;
use super::live_runs::LiveRun;
use crate::cancel_token::RunToken;
use crate::checkpoint::{
    AnswerEntry, Claim, DecisionKind, DecisionRecord, Moment, OnBusy, RunClaim, Store,
    ThreadStorage,
};
use crate::exec::BeginBarrier;
use crate::interrupt::AnyResume;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::AnswerError;
use crate::task_services::question::LiveQuestions;
use crate::task_services::question::answer::{self, AnswerTarget, Waiting};

/// How long to wait before a claim is tried again, at first and at most.
const WAITS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(200));

/// A run of another process that has the thread may be that of another caller with an answer. This is the first wait that is
/// too long for it: the sum of the waits before is a little less.
const ANSWER_IS_STORED: Duration = Duration::from_millis(128);

/// The claim of a run on a thread. Dropping it releases the claim.
pub(crate) struct ThreadClaim {
    store: Arc<dyn Store>,
    thread: Arc<str>,
    owner: String,
    /// `None` before it is granted.
    granted: Option<Arc<RunClaim>>,
}

/// The runs of this process, by thread and owner.
type Runs = HashMap<(Arc<str>, String), ClaimedRun>;

/// A run that has claimed its thread.
#[derive(Clone)]
pub(crate) struct ClaimedRun {
    cancel: RunToken,
    /// Whether it has stored what it begins with. The runs of this process that wait for the thread are woken when this run is
    /// open and when it has ended.
    is_open: watch::Sender<bool>,
    live: LiveRun,
    /// What the run waits for while it goes on.
    questions: Arc<LiveQuestions>,
}

/// Cancels the run of this process that has the thread, and holds the thread. Returns whether there is one.
pub(in crate::durable) fn hold_run(thread: &Arc<str>, owner: String) -> bool {
    let run = runs().get(&(Arc::clone(thread), owner)).cloned();
    run.inspect(|run| run.cancel.hold()).is_some()
}

impl ClaimedRun {
    /// The run has stored what it begins with.
    pub(in crate::durable) fn set_open(&self) {
        self.is_open.send_replace(true);
    }

    /// What the run waits for while it goes on, for those who answer.
    pub(in crate::durable) fn questions(&self) -> Arc<LiveQuestions> {
        Arc::clone(&self.questions)
    }

    /// The run, for those who follow its events.
    pub(in crate::durable) fn live(&self) -> LiveRun {
        self.live.clone()
    }
}

/// Waits for a change of the run that has the claim. A claim that is not renewed, because its run stalls, expires.
async fn change_or_expiry(mut is_open: watch::Receiver<bool>, store: &Arc<dyn Store>) {
    // It fails only when the run has ended.
    let changed = async { is_open.changed().await.unwrap_or_default() };
    match store.claim_lasts() {
        Some(lasts) => tokio::time::timeout(lasts, changed)
            .await
            .unwrap_or_default(),
        None => changed.await,
    }
}

fn runs() -> MutexGuard<'static, Runs> {
    static RUNS: OnceLock<Mutex<Runs>> = OnceLock::new();
    let runs = RUNS.get_or_init(Mutex::default);
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name for the owner of a claim, which no other run has.
pub(crate) fn new_owner() -> String {
    let [first, second] = [0, 1].map(|number| RandomState::new().hash_one(number));
    format!("{first:016x}{second:016x}")
}

/// A caller that answers what the thread waits for.
pub(crate) struct Answering<'a> {
    pub(crate) plan: &'a ExecutionPlan,
    pub(crate) targets: &'a [AnswerTarget],
    pub(crate) resume: &'a mut AnyResume,
    /// Passed when the answers are stored.
    pub(crate) begin_barrier: Option<&'a BeginBarrier>,
}

impl Answering<'_> {
    /// Gives the answers to a run in progress, if it waits for all of them. Otherwise the caller still has them.
    fn give(
        &mut self,
        questions: &LiveQuestions,
    ) -> Result<Option<oneshot::Receiver<()>>, AnswerError> {
        if !self.resume.fits_a_run() {
            return Ok(None);
        }
        let resume = &mut *self.resume;
        questions.give(self.targets, |open: &mut Waiting| {
            let interrupts = open.iter().map(|(_, interrupt)| interrupt);
            *resume = std::mem::take(resume).with_responses(interrupts)?;
            // A response may be an edit.
            if !resume.fits_a_run() {
                return Ok(None);
            }
            entries(resume, open).map(Some)
        })
    }

    /// The run has stored the answers.
    async fn are_stored(&mut self) {
        self.resume.answers.clear();
        self.resume.decisions.clear();
        if let Some(begin_barrier) = self.begin_barrier {
            begin_barrier.pass().await;
        }
    }
}

/// The answers and decisions, as the next checkpoint records them. Removes what they are for from what is open.
fn entries(
    resume: &AnyResume,
    open: &mut Waiting,
) -> Result<(Vec<AnswerEntry>, Vec<DecisionRecord>), AnswerError> {
    let mut entries = answer::answers(open, resume.answers.clone())?;
    let mut notes = Vec::new();
    for (id, decision) in &resume.decisions {
        let kind = decision.action.kind();
        for interrupt in answer::take_decided(open, *id)? {
            if kind == DecisionKind::Skipped {
                // That of the outermost flow has no name.
                let is_inside = !interrupt.namespace.is_empty();
                answer::check_skip(&interrupt, interrupt.chooses, is_inside)?;
            }
            entries.push(answer::decision(&interrupt, kind));
            notes.push(decision.record(&interrupt));
        }
    }
    Ok((entries, notes))
}

impl ThreadClaim {
    /// Claims the thread for an owner. `on_busy` decides what happens if another run has it. From now on, another run can cancel this one.
    ///
    /// If the run answers what the thread waits for, a run of this process that has the thread gets the answers, if it waits for
    /// them while other tasks run. Otherwise it may be that of another caller with an answer. Then this waits until that answer is stored, so that the error can state it.
    pub(crate) async fn acquire(
        owner: String,
        storage: &ThreadStorage,
        mut on_busy: OnBusy,
        cancel: &mut Option<RunToken>,
        mut answers: Option<Answering<'_>>,
    ) -> Result<Self, ThreadError> {
        let ThreadStorage { store, thread, .. } = storage;
        let busy = || ThreadError::Busy {
            thread: thread.to_string(),
        };
        let (mut wait, longest) = WAITS;
        let mut was_lost = false;
        // Created before the claim is granted: if this future is dropped while it waits, the store may have granted it already.
        let mut claimed = ThreadClaim {
            store: Arc::clone(store),
            thread: Arc::clone(thread),
            owner,
            granted: None,
        };
        let granted = loop {
            let begun = Moment::now();
            let other = match store.claim(thread, &claimed.owner).await? {
                Claim::Granted => break begun,
                Claim::Busy { .. } if on_busy == OnBusy::Refuse && answers.is_none() => {
                    return Err(busy());
                }
                Claim::Busy { owner } => owner,
            };
            let known = runs().get(&(Arc::clone(thread), other)).cloned();
            // Made before the run can change, so that the change is not missed.
            let known = known.map(|run| (run.is_open.subscribe(), run));
            if let Some(answering) = &mut answers
                && !was_lost
                && let Some((_, run)) = &known
                && let Some(stored) = answering.give(&run.questions)?
            {
                if stored.await.is_ok() {
                    answering.are_stored().await;
                    // The caller gets how the thread goes on after the run that has the answers.
                    (answers, on_busy) = (None, OnBusy::Queue);
                    continue;
                }
                // The run ends, and has stored none of them.
                was_lost = true;
            }
            let mut may_answer = false;
            if let Some(answering) = &answers {
                let Answering { plan, targets, .. } = answering;
                // Read first: an open run has stored its answers.
                may_answer = match &known {
                    Some((_, run)) => !*run.is_open.borrow(),
                    None => wait < ANSWER_IS_STORED,
                };
                // Its last task has ended, and it stores that it waits.
                let told = |(_, run): &(_, ClaimedRun)| run.questions.has_told(targets);
                may_answer |= answering.resume.fits_a_run() && known.as_ref().is_some_and(told);
                check_unanswered(storage, plan, targets).await?;
            }
            match on_busy {
                _ if may_answer => {}
                OnBusy::Queue => {}
                OnBusy::Cancel => {
                    let elsewhere = || ThreadError::BusyElsewhere {
                        thread: thread.to_string(),
                    };
                    known.as_ref().ok_or_else(elsewhere)?.1.cancel.cancel();
                }
                // `Refuse`.
                _ => return Err(busy()),
            }
            if cancel.as_ref().is_some_and(RunToken::is_cancelled) {
                return Err(busy());
            }
            if let Some((changed, _)) = known {
                or_cancelled(change_or_expiry(changed, store), cancel.as_ref()).await;
                wait = WAITS.0;
            } else {
                or_cancelled(tokio::time::sleep(wait), cancel.as_ref()).await;
                wait = longest.min(wait * 2);
            }
        };
        let granted = RunClaim::new(store, thread, &claimed.owner, granted);
        claimed.granted = Some(Arc::new(granted));
        // Of this run alone: the caller may stop other runs with its own token.
        let token = match cancel {
            Some(token) => token.for_run(),
            None => RunToken::from(CancellationToken::new()).for_run(),
        };
        *cancel = Some(token.clone());
        let run = ClaimedRun {
            cancel: token,
            is_open: watch::Sender::new(false),
            live: LiveRun::register(store, thread),
            questions: Arc::default(),
        };
        runs().insert(claimed.key(), run);
        Ok(claimed)
    }

    /// The run that has the claim.
    pub(in crate::durable) fn run(&self) -> Option<ClaimedRun> {
        runs().get(&self.key()).cloned()
    }

    /// The claim, under which the run writes.
    pub(crate) fn granted(&self) -> Option<Arc<RunClaim>> {
        self.granted.clone()
    }

    fn key(&self) -> (Arc<str>, String) {
        (Arc::clone(&self.thread), self.owner.clone())
    }

    /// Awaits the run, and renews the claim if it would expire.
    pub(crate) async fn hold<T>(&self, run: impl Future<Output = T>) -> T {
        let Some((claim, interval)) = self
            .granted
            .as_ref()
            .and_then(|claim| Some((claim, claim.renewal_interval()?)))
        else {
            return run.await;
        };
        let renew = async {
            loop {
                tokio::time::sleep(interval).await;
                claim.renew().await;
            }
        };
        let (mut run, mut renew) = (std::pin::pin!(run), std::pin::pin!(renew));
        std::future::poll_fn(|cx| {
            let _: std::task::Poll<std::convert::Infallible> = renew.as_mut().poll(cx);
            run.as_mut().poll(cx)
        })
        .await
    }
}

impl Drop for ThreadClaim {
    fn drop(&mut self) {
        let run = runs().remove(&self.key());
        self.store.release(&self.thread, &self.owner);
        if let Some(run) = run {
            run.is_open.send_replace(true);
        }
    }
}

/// Waits for the future, or until the token is cancelled.
async fn or_cancelled(future: impl Future<Output = ()>, cancel: Option<&RunToken>) {
    let Some(cancel) = cancel else {
        return future.await;
    };
    let (mut future, mut cancelled) = (std::pin::pin!(future), std::pin::pin!(cancel.cancelled()));
    std::future::poll_fn(|cx| {
        if future.as_mut().poll(cx).is_ready() || cancelled.as_mut().poll(cx).is_ready() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
