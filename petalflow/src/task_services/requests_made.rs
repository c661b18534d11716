//! The requests to models that the tasks of a superstep have made.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::TaskRef;
use crate::checkpoint::StoredWrite;
use crate::ids::TaskId;
use crate::noted_request::NotedRequest;

/// What has been requested in the tasks of a superstep.
#[derive(Default)]
pub(super) struct RequestsMade {
    attempts: HashMap<(TaskId, u32), Attempt>,
    /// What earlier runs have recorded of each task.
    earlier: HashMap<TaskId, Vec<(u32, NotedRequest)>>,
    /// The encoded record of the first request of each task.
    first: HashMap<TaskId, Vec<u8>>,
    /// The tasks whose first attempt continues that of an earlier run.
    continued: HashSet<TaskId>,
}

#[derive(Default)]
struct Attempt {
    /// The number of the next request.
    next: u32,
    /// How many requests each group has.
    groups: BTreeMap<Vec<String>, u32>,
    /// The answers that no record has yet.
    answers: Vec<Value>,
}

impl RequestsMade {
    pub(super) fn restore(&mut self, write: &StoredWrite, number: u32) {
        let request = NotedRequest::read(&write.bytes);
        let earlier = self.earlier.entry(write.task).or_default();
        earlier.push((number, request));
        if number == 0 {
            self.first.insert(write.task, write.bytes.clone());
        }
    }

    pub(super) fn clear(&mut self) {
        self.attempts.clear();
        self.earlier.clear();
        self.first.clear();
        self.continued.clear();
    }

    /// The number of a request among those of an attempt, its index in its group, and the number of the attempt.
    pub(super) fn number(&mut self, task: &TaskRef<'_>, group: &[String]) -> (u32, u32, u32) {
        let of_all_runs = self.attempt(task);
        let attempt = self.attempts.entry((task.id, task.attempt)).or_default();
        let number = attempt.next;
        attempt.next = number.saturating_add(1);
        let in_group = attempt.groups.entry(group.to_vec()).or_default();
        let index = *in_group;
        *in_group += 1;
        (number, index, of_all_runs)
    }

    /// Keeps an answer for the next record of the attempt.
    pub(super) fn keep_answer(&mut self, task: &TaskRef<'_>, answer: Value) {
        if let Some(attempt) = self.attempts.get_mut(&(task.id, task.attempt)) {
            attempt.answers.push(answer);
        }
    }

    pub(super) fn take_answers(&mut self, task: &TaskRef<'_>) -> Vec<Value> {
        let attempt = self.attempts.get_mut(&(task.id, task.attempt));
        attempt.map_or(Vec::new(), |attempt| std::mem::take(&mut attempt.answers))
    }

    /// The number of the attempt among those of all runs.
    fn attempt(&self, task: &TaskRef<'_>) -> u32 {
        let earlier = self.earlier.get(&task.id).into_iter().flatten();
        let before = earlier.map(|(_, request)| request.attempt).max();
        let is_continued = u32::from(self.continued.contains(&task.id));
        let before = before.unwrap_or(0).saturating_sub(is_continued);
        before.saturating_add(task.attempt)
    }

    /// The number of the newest attempt of earlier runs and its record, if they have recorded one request of the task. `None` if this run
    /// is not the first attempt after them.
    pub(super) fn only_request(&self, task: &TaskRef<'_>) -> Option<(u32, &[u8])> {
        let [(0, only)] = &self.earlier.get(&task.id)?[..] else {
            return None;
        };
        let record = self.first.get(&task.id).filter(|_| task.attempt == 1)?;
        Some((only.attempt, record))
    }

    /// The first attempt of this run has the number of the newest one of earlier runs.
    pub(super) fn continue_attempt(&mut self, task: &TaskRef<'_>) {
        self.continued.insert(task.id);
    }

    /// An effect has given its recorded result: its requests are not made again, and keep their numbers.
    pub(super) fn skip(&mut self, task: &TaskRef<'_>, effect: &str) {
        let earlier = self.earlier.get(&task.id).into_iter().flatten();
        let own = earlier.filter(|(_, request)| request.is_within(effect));
        if let Some(last) = own.map(|(number, _)| *number).max() {
            let attempt = self.attempts.entry((task.id, task.attempt)).or_default();
            attempt.next = attempt.next.max(last.saturating_add(1));
        }
    }
}
