//! Compares requests to models with those that were recorded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Context, Task};
use super::difference::{Difference, DifferenceKind};
use super::replayed::Replayed;
use super::rows::{first_difference, text};
use crate::checkpoint::{StoredWrite, WriteName};
use crate::engine::replay_tasks::RecordedRequests;
use crate::noted_request::NotedRequest;
use crate::thread_file::FileFlow;

/// What a replay shows of a part of which only a digest was recorded.
const DIGEST_ONLY: &str = "another one: only its digest is in the file";

/// What stands in a file for a value that was removed. A digest is that of the value itself.
const REMOVED: &str = "[removed]";

/// What a request has under a name.
struct Part {
    digest: Option<String>,
    value: Option<Value>,
}

/// Where a replay of a task ended.
#[derive(Debug)]
pub(super) enum RequestsEnd {
    /// The task has ended, or it waits: it makes no other request.
    Task,
    /// At a request to which it has no answer.
    Request,
    /// Before its next request, for this reason.
    Before(String),
}

/// The requests that a task has recorded, in their order. Of a group, those of its last attempt: an attempt makes all of them again.
pub(super) fn recorded<'w>(writes: impl IntoIterator<Item = &'w StoredWrite>) -> Vec<NotedRequest> {
    let mut requests = BTreeMap::new();
    for write in writes {
        if let Some(WriteName::Request(number)) = write.contents() {
            requests.insert(number, NotedRequest::read(&write.bytes));
        }
    }
    let mut last: BTreeMap<Vec<String>, u32> = BTreeMap::new();
    for request in requests.values() {
        let attempt = last.entry(request.group.clone()).or_default();
        *attempt = request.attempt.max(*attempt);
    }
    let mut requests: Vec<NotedRequest> = requests.into_values().collect();
    requests.retain(|request| last.get(&request.group) == Some(&request.attempt));
    requests
}

/// How many requests the tasks of a flow have recorded.
pub(super) fn count(flow: &FileFlow) -> usize {
    let mut of_tasks: BTreeMap<_, Vec<&StoredWrite>> = BTreeMap::new();
    for (seq, write) in &flow.writes {
        of_tasks.entry((*seq, write.task)).or_default().push(write);
    }
    let counts = of_tasks.into_values().map(|writes| recorded(writes).len());
    counts.sum()
}

/// What a replay of a task gives and enters, of what was recorded of its requests.
pub(super) fn given(requests: &[NotedRequest]) -> RecordedRequests {
    let effects = requests.iter().flat_map(|request| &request.effects);
    let answers = requests.iter().flat_map(|request| &request.answers);
    RecordedRequests {
        effects: effects.cloned().collect(),
        answers: answers
            .map(|answer| ((answer.group.clone(), answer.index), answer.bytes.clone()))
            .collect(),
    }
}

/// Compares the requests of a task: those that were recorded with those that the program of today makes.
pub(super) fn compare(
    context: &Context<'_>,
    task: &Task,
    made: &[(u32, Vec<u8>)],
    end: &RequestsEnd,
    replayed: &mut Replayed,
) {
    let difference = |name: String, expected: String, found: String| Difference {
        kind: DifferenceKind::Request,
        flow: context.flow.into(),
        superstep: Some(context.at),
        node: Some(task.name()),
        name,
        expected,
        found,
    };
    let several = task.requests.len() > 1 || made.len() > 1;
    let of = |number: usize, request: &NotedRequest| match &*request.group {
        [] => format!("request {}", number + 1),
        group => format!("request {} ({})", number + 1, group.join(", ")),
    };
    let whole = |number: usize, request: &NotedRequest| {
        if several {
            of(number, request)
        } else {
            String::new()
        }
    };
    let mut made: Vec<Option<NotedRequest>> = made
        .iter()
        .map(|(_, request)| Some(NotedRequest::read(request)))
        .collect();
    for (number, was) in task.requests.iter().enumerate() {
        // An older program has not recorded what a request was for.
        let is_same = |is: &&mut Option<NotedRequest>| {
            let is = is.as_ref();
            is.is_some_and(|is| was.attempt == 0 || is.group == was.group)
        };
        let Some(is) = made.iter_mut().find(is_same).and_then(Option::take) else {
            let found = match end {
                RequestsEnd::Request => continue,
                RequestsEnd::Task => "it was not made".into(),
                RequestsEnd::Before(problem) => format!("it was not made: {problem}"),
            };
            replayed.add(difference(whole(number, was), "a request".into(), found));
            continue;
        };
        replayed.requests += 1;
        for (part, expected, found) in differing(&parts(&was.parts), &parts(&is.parts)) {
            let name = if several {
                format!("{part} of {}", of(number, was))
            } else {
                part
            };
            replayed.add(difference(name, expected, found));
        }
    }
    for (number, is) in made.iter().enumerate() {
        let Some(is) = is else { continue };
        // A thread of a program that did not record requests has none of any task.
        let expected = if task.requests.is_empty() {
            "not recorded"
        } else {
            "no such request"
        };
        replayed.add(difference(
            whole(number, is),
            expected.into(),
            "a request".into(),
        ));
    }
}

/// The parts of a request, in their order.
fn parts(form: &Value) -> Vec<(String, Part)> {
    let parts = form.as_array().into_iter().flatten();
    let read = parts.filter_map(|part| {
        let value = part.get("is").cloned();
        let digest = part.get("digest").and_then(Value::as_str);
        let name = part.get("part")?.as_str()?.to_string();
        let digest = digest.map(Into::into);
        Some((name, Part { digest, value }))
    });
    read.collect()
}

/// The names of the parts that differ, and what they were and are.
fn differing(was: &[(String, Part)], is: &[(String, Part)]) -> Vec<(String, String, String)> {
    let before: BTreeMap<&str, &Part> = was.iter().map(|(name, part)| (&**name, part)).collect();
    let now: BTreeMap<&str, &Part> = is.iter().map(|(name, part)| (&**name, part)).collect();
    let gone = was.iter().filter(|(name, _)| !now.contains_key(&**name));
    let mut rows = Vec::new();
    for (name, _) in is.iter().chain(gone) {
        let (was, is) = (before.get(&**name), now.get(&**name));
        match (was, is) {
            (Some(was), Some(is)) if was.value.is_none() => {
                let found = text(is.value.as_ref());
                if was.digest != is.digest && !found.contains(REMOVED) {
                    rows.push((name.clone(), DIGEST_ONLY.into(), found));
                }
            }
            (was, is) => {
                let value = |part: Option<&&Part>| match part {
                    Some(part) if part.value.is_none() => Some(DIGEST_ONLY.into()),
                    part => part.and_then(|part| part.value.clone()),
                };
                let (was, is) = (value(was), value(is));
                if let Some((path, was, is)) = first_difference(was.as_ref(), is.as_ref()) {
                    rows.push((format!("{name}{path}"), text(was), text(is)));
                }
            }
        }
    }
    rows.extend(order(
        &was.iter().map(name_of).collect::<Vec<_>>(),
        &is.iter().map(name_of).collect::<Vec<_>>(),
    ));
    rows
}

fn name_of((name, _): &(String, Part)) -> &str {
    name
}

/// Where the parts that both have are in another order.
fn order(was: &[&str], is: &[&str]) -> Option<(String, String, String)> {
    let was: Vec<&str> = was
        .iter()
        .filter(|name| is.contains(name))
        .copied()
        .collect();
    let is: Vec<&str> = is
        .iter()
        .filter(|name| was.contains(name))
        .copied()
        .collect();
    let start = was.iter().zip(&is).position(|(was, is)| was != is)?;
    let same_end = was.iter().rev().zip(is.iter().rev());
    let end = was.len().min(is.len()) - same_end.take_while(|(was, is)| was == is).count();
    let shown = |names: &[&str]| names.get(start..end).unwrap_or_default().join(", ");
    Some(("order".into(), shown(&was), shown(&is)))
}
