//! Claims on threads.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::answered::check_unanswered;
use super::live_runs::LiveRun;
use super::stop::{self, StopKind};
use crate::cancel_token::{CancelToken, RunToken};
use crate::checkpoint::{
    AnswerEntry, Claim, DecisionKind, DecisionRecord, Moment, OnBusy, RunClaim, Store,
    ThreadStorage,
};
use crate::exec::BeginBarrier;
use crate::future::BoxFuture;
use crate::interrupt::AnyResume;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::AnswerError;
use crate::task_services::question::LiveQuestions;
use crate::task_services::question::answer::{self, AnswerTarget, Waiting};

/// How long to wait before a claim is tried again, at first and at most.
const SHORTEST_WAIT: Duration = Duration::from_millis(2);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

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
    /// Whether it has stored how it has ended.
    has_stopped: Arc<AtomicBool>,
    /// Whether it has stored what it begins with. The runs of this process that wait for the thread are woken when this run is
    /// open and when it has ended.
    is_open: watch::Sender<bool>,
    live: LiveRun,
    /// What the run waits for while it goes on.
    questions: Arc<LiveQuestions>,
}

impl ClaimedRun {
    /// Stops the run.
    pub(in crate::durable) fn stop(&self, kind: StopKind) {
        if kind.holds() {
            self.cancel.hold();
        }
        if kind.is_at_once() {
            self.cancel.cancel();
        } else {
            self.cancel.drain();
        }
    }

    /// Whether the run has stored how it has ended. A run that was dropped has not.
    pub(in crate::durable) fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Acquire)
    }

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

/// The run of this process that has claimed the thread under this owner, and what tells that it has changed.
pub(in crate::durable) fn claimed_run(
    thread: &Arc<str>,
    owner: &str,
) -> Option<(ClaimedRun, watch::Receiver<bool>)> {
    let run = runs()
        .get(&(Arc::clone(thread), owner.to_owned()))
        .cloned()?;
    let changed = run.is_open.subscribe();
    Some((run, changed))
}

/// How long the next wait for a claim is.
pub(in crate::durable) struct Waits(Duration);

impl Waits {
    pub(in crate::durable) fn new() -> Self {
        Waits(SHORTEST_WAIT)
    }

    /// Waits until the claim may be free: until the run of this process that has it changes, or else for a time.
    pub(in crate::durable) async fn wait(
        &mut self,
        change: Option<watch::Receiver<bool>>,
        store: &Arc<dyn Store>,
        cancel: Option<&RunToken>,
    ) {
        if let Some(change) = change {
            or_cancelled(change_or_expiry(change, store), cancel).await;
            self.0 = SHORTEST_WAIT;
        } else {
            or_cancelled(tokio::time::sleep(self.0), cancel).await;
            self.0 = LONGEST_WAIT.min(self.0 * 2);
        }
    }
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
        let mut waits = Waits::new();
        let mut was_lost = false;
        let mut told = None;
        let mut given_to: Option<ClaimedRun> = None;
        // Created before the claim is granted: if this future is dropped while it waits, the store may have granted it already.
        let mut claimed = Self::pending(&owner, storage);
        let granted = loop {
            let begun = Moment::now();
            let other = match store.claim(thread, &claimed.owner).await? {
                Claim::Granted => break begun,
                Claim::Busy { .. } if on_busy == OnBusy::Refuse && answers.is_none() => {
                    return Err(busy());
                }
                Claim::Busy { owner } => owner,
            };
            // What tells of a change is made before the run can change, so that the change is not missed.
            let known = claimed_run(thread, &other);
            if let Some(answering) = &mut answers
                && !was_lost
                && let Some((run, _)) = &known
                && let Some(stored) = answering.give(&run.questions)?
            {
                if stored.await.is_ok() {
                    answering.are_stored().await;
                    // The caller gets how the thread goes on after the run that has the answers.
                    (answers, on_busy) = (None, OnBusy::Queue);
                    given_to = Some(run.clone());
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
                    Some((run, _)) => !*run.is_open.borrow(),
                    None => waits.0 < ANSWER_IS_STORED,
                };
                // Its last task has ended, and it stores that it waits.
                let told = |(run, _): &(ClaimedRun, _)| run.questions.has_told(targets);
                may_answer |= answering.resume.fits_a_run() && known.as_ref().is_some_and(told);
                check_unanswered(storage, plan, targets).await?;
            }
            match on_busy {
                _ if may_answer => {}
                OnBusy::Queue => {}
                OnBusy::Cancel | OnBusy::Rollback => match &known {
                    Some((run, _)) => run.stop(StopKind::Replace),
                    None if told.as_ref() == Some(&other) => {}
                    None => {
                        stop::send(storage, &other, StopKind::Replace).await?;
                        told = Some(other);
                    }
                },
                // `Refuse`.
                _ => return Err(busy()),
            }
            if cancel.as_ref().is_some_and(RunToken::is_cancelled) {
                return Err(busy());
            }
            let change = known.map(|(_, change)| change);
            waits.wait(change, store, cancel.as_ref()).await;
        };
        claimed.grant(granted);
        if given_to.is_some_and(|run| run.cancel.is_told_to_hold()) {
            // The run that had the answers was stopped by a person, and with it what was to follow.
            return Err(ThreadError::Held {
                thread: thread.to_string(),
            });
        }
        // Of this run alone: the caller may stop other runs with its own token.
        let token = match cancel {
            Some(token) => token.for_stored_run(),
            None => RunToken::from(CancelToken::new()),
        };
        *cancel = Some(token.clone());
        let run = ClaimedRun {
            cancel: token,
            has_stopped: Arc::default(),
            is_open: watch::Sender::new(false),
            live: LiveRun::register(store, thread),
            questions: Arc::default(),
        };
        runs().insert(claimed.key(), run);
        Ok(claimed)
    }

    /// A claim that was not granted yet.
    pub(in crate::durable) fn pending(owner: &str, storage: &ThreadStorage) -> Self {
        ThreadClaim {
            store: Arc::clone(&storage.store),
            thread: Arc::clone(&storage.thread),
            owner: owner.into(),
            granted: None,
        }
    }

    /// The store has granted the claim, at some time after this moment.
    pub(in crate::durable) fn grant(&mut self, begun: Moment) {
        let granted = RunClaim::new(&self.store, &self.thread, &self.owner, begun);
        self.granted = Some(Arc::new(granted));
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

    /// Awaits the run. While it waits, this renews the claim if it would expire, and looks for commands of other processes.
    pub(crate) async fn hold<T>(&self, storage: &ThreadStorage, run: impl Future<Output = T>) -> T {
        let heard = Mutex::default();
        let mut beside: Option<Vec<BoxFuture<'_, ()>>> = None;
        let mut run = std::pin::pin!(run);
        let ended = std::future::poll_fn(|cx| {
            let polled = run.as_mut().poll(cx);
            if polled.is_pending() {
                // Made only now: a run that never waits ends before the first look.
                for endless in beside.get_or_insert_with(|| self.beside(storage, &heard)) {
                    let _ = endless.as_mut().poll(cx);
                }
            }
            polled
        })
        .await;
        drop(beside);
        let heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        stop::carried_out(storage, &self.owner, &heard).await;
        if let Some(run) = self.run() {
            run.has_stopped.store(true, Ordering::Release);
        }
        ended
    }

    /// What is done beside a run until it ends.
    fn beside<'a>(
        &'a self,
        storage: &'a ThreadStorage,
        heard: &'a Mutex<Vec<StopKind>>,
    ) -> Vec<BoxFuture<'a, ()>> {
        let mut beside: Vec<BoxFuture<'a, ()>> = Vec::new();
        if let Some(claim) = &self.granted
            && let Some(interval) = claim.renewal_interval()
        {
            beside.push(Box::pin(async move {
                loop {
                    tokio::time::sleep(interval).await;
                    claim.renew().await;
                }
            }));
        }
        // Without tokio, nothing can wake the run to look.
        let has_timers = tokio::runtime::Handle::try_current().is_ok();
        if storage.store.is_shared()
            && has_timers
            && let Some(run) = self.run()
        {
            let stop_run = move |kind| run.stop(kind);
            beside.push(Box::pin(stop::listen(
                storage,
                &self.owner,
                stop_run,
                heard,
            )));
        }
        beside
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
