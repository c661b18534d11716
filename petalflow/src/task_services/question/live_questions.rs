//! The questions of a run in progress, and the answers that callers of its process give to it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::oneshot;

use super::answer::{AnswerTarget, Waiting, take_expired};
use super::expiries::QuestionExpiries;
use crate::checkpoint::{AnswerEntry, DecisionRecord};
use crate::question::{AnswerError, Interrupt, InterruptId};

/// The questions of a run in progress, and the answers that callers of its process give to it.
#[derive(Default)]
pub(crate) struct LiveQuestions(Mutex<Live>);

#[derive(Default)]
struct Live {
    /// What the run has stored and waits for.
    open: Waiting,
    /// The answers that it has not stored yet.
    given: Vec<GivenAnswers>,
    /// The answers that it was given.
    answered: Vec<AnswerEntry>,
    /// Everything that was open.
    told: Vec<Interrupt>,
    /// Wakes the driver of the run.
    driver: Option<Waker>,
    /// When the open questions expire.
    expiries: QuestionExpiries,
}

/// Answers and decisions of one caller, or the questions that have expired.
pub(crate) struct GivenAnswers {
    pub(crate) entries: Vec<AnswerEntry>,
    /// The decisions among them.
    pub(crate) notes: Vec<DecisionRecord>,
    /// Tells the caller that they are stored.
    stored: Option<oneshot::Sender<()>>,
}

impl GivenAnswers {
    /// They are in the store.
    pub(crate) fn are_stored(self) {
        if let Some(stored) = self.stored {
            // The caller may have gone.
            let _ = stored.send(());
        }
    }
}

impl LiveQuestions {
    /// Sets what the run waits for, all of which is stored. `now_ms` is the time of the store.
    pub(crate) fn set_open(&self, open: Waiting, now_ms: u64) {
        let mut live = self.lock();
        let interrupts = open.iter().map(|(_, interrupt)| interrupt);
        live.expiries.set(interrupts, now_ms);
        for (_, interrupt) in &open {
            if !live.told.iter().any(|told| told.id == interrupt.id) {
                live.told.push(interrupt.clone());
            }
        }
        let given: Vec<[u8; 16]> = live.answered.iter().map(|entry| entry.id).collect();
        live.open = open;
        live.open
            .retain(|(_, interrupt)| !given.contains(&interrupt.id.to_bytes()));
    }

    /// Gives answers to these questions, or decisions about these approvals, to the run. `make` gets what is open, and removes from it
    /// that for which it returns entries; if it returns `None`, nothing is given. `None` if the run does not wait for all of them, or
    /// nothing was given. Otherwise what completes when they are stored.
    ///
    /// # Errors
    ///
    /// Those of `make`. If an answer does not fit its question, or if another caller has answered.
    pub(crate) fn give(
        &self,
        targets: &[AnswerTarget],
        make: impl FnOnce(
            &mut Waiting,
        )
            -> Result<Option<(Vec<AnswerEntry>, Vec<DecisionRecord>)>, AnswerError>,
    ) -> Result<Option<oneshot::Receiver<()>>, AnswerError> {
        let mut live = self.lock();
        let answered = |target: &AnswerTarget| {
            let entries = live.answered.iter();
            entries.rev().find(|entry| target.is_answered_by(entry))
        };
        let is_open = |target: &AnswerTarget| live.is_open(*target);
        if let Some(entry) = targets
            .iter()
            .filter(|target| !is_open(target))
            .find_map(answered)
        {
            return Err(AnswerError::Answered {
                id: InterruptId::from_bytes(entry.id),
                name: entry.name.clone(),
            });
        }
        if !targets.iter().all(is_open) {
            return Ok(None);
        }
        let mut open = live.open.clone();
        let Some((entries, notes)) = make(&mut open)? else {
            return Ok(None);
        };
        let (stored, is_stored) = oneshot::channel();
        live.open = open;
        live.answered.extend(entries.iter().cloned());
        live.given.push(GivenAnswers {
            entries,
            notes,
            stored: Some(stored),
        });
        if let Some(driver) = live.driver.take() {
            driver.wake();
        }
        Ok(Some(is_stored))
    }

    /// Whether the run has told all of these questions.
    pub(crate) fn has_told(&self, targets: &[AnswerTarget]) -> bool {
        let live = self.lock();
        let told = |target: &AnswerTarget| live.told.iter().any(|told| target.means(told));
        targets.iter().all(told)
    }

    /// The answers that the run was given and has not stored.
    pub(crate) fn take_given(&self) -> Vec<GivenAnswers> {
        std::mem::take(&mut self.lock().given)
    }

    /// Completes when the run was given answers, or questions have expired.
    pub(crate) fn poll_given(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut live = self.lock();
        live.poll_expired(cx);
        if !live.given.is_empty() {
            return Poll::Ready(());
        }
        live.driver = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The run takes no more answers, unless it was given some. Returns whether it has ended to take them.
    pub(crate) fn close(&self) -> bool {
        let mut live = self.lock();
        if !live.given.is_empty() {
            return false;
        }
        live.open.clear();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        // A response of a caller that panics leaves what the run waits for as it was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Whether the run waits for this, and for nothing else that it could mean.
    fn is_open(&self, target: AnswerTarget) -> bool {
        let open = self.open.iter().map(|(_, interrupt)| interrupt);
        match open.filter(|interrupt| target.means(interrupt)).count() {
            0 => false,
            1 => true,
            _ => matches!(target, AnswerTarget::Approvals),
        }
    }

    /// Gives the questions that have expired to the run: their answers are those without a person.
    fn poll_expired(&mut self, cx: &mut Context<'_>) {
        let Poll::Ready(ids) = self.expiries.poll(cx) else {
            return;
        };
        let entries = take_expired(&mut self.open, |open| ids.contains(&open.id));
        if entries.is_empty() {
            return;
        }
        self.answered.extend(entries.iter().cloned());
        self.given.push(GivenAnswers {
            entries,
            notes: Vec::new(),
            stored: None,
        });
    }
}
