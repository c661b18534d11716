//! The answers that a thread has recorded, as the tasks of all its flows see them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use crate::checkpoint::AnswerEntry;
use crate::question::InterruptId;

/// The recorded answers of a thread, by question. A run in progress adds those that it is given.
#[derive(Default)]
pub(crate) struct AnswerBook(Mutex<Answers>);

#[derive(Default)]
struct Answers {
    /// The name of the question's type, and the encoded answer. An empty answer means that the question expired.
    by_question: HashMap<InterruptId, (String, Vec<u8>)>,
    /// Wakes the drivers whose tasks wait for answers.
    wakers: Vec<Waker>,
}

impl AnswerBook {
    pub(crate) fn of(entries: &[AnswerEntry]) -> Self {
        let book = AnswerBook::default();
        book.add(entries.iter().cloned());
        book
    }

    pub(crate) fn get(&self, id: InterruptId) -> Option<(String, Vec<u8>)> {
        self.lock().by_question.get(&id).cloned()
    }

    pub(crate) fn has(&self, id: InterruptId) -> bool {
        self.lock().by_question.contains_key(&id)
    }

    /// All of them, as they are stored.
    pub(crate) fn entries(&self) -> Vec<AnswerEntry> {
        let answers = self.lock();
        let entries = answers.by_question.iter();
        let entries = entries.map(|(id, (name, bytes))| AnswerEntry {
            id: id.to_bytes(),
            name: name.clone(),
            bytes: bytes.clone(),
        });
        entries.collect()
    }

    /// Adds answers that are recorded, and wakes the drivers whose tasks wait for answers.
    pub(crate) fn add(&self, entries: impl Iterator<Item = AnswerEntry>) {
        let mut answers = self.lock();
        for AnswerEntry { id, name, bytes } in entries {
            let id = InterruptId::from_bytes(id);
            answers.by_question.insert(id, (name, bytes));
        }
        let wakers = std::mem::take(&mut answers.wakers);
        drop(answers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes the caller when an answer is added.
    pub(super) fn wake_when_added(&self, cx: &Context<'_>) {
        let mut answers = self.lock();
        if !answers
            .wakers
            .iter()
            .any(|known| known.will_wake(cx.waker()))
        {
            answers.wakers.push(cx.waker().clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        // Nothing under this lock can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
