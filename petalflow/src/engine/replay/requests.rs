//! Compares requests to models with those that were recorded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Context, Task};
use super::difference::{Difference, DifferenceKind};
use super::replayed::Replayed;
use super::rows::{first_difference, text};
use petalflow_store::codec::to_form;

/// What a replay shows of a part of which only a digest was recorded.
const DIGEST_ONLY: &str = "another one: only its digest is in the file";

/// What stands in a file for a value that was removed. A digest is that of the value itself.
const REMOVED: &str = "[removed]";

/// What a request has under a name.
struct Part {
    digest: Option<String>,
    value: Option<Value>,
}

/// Compares the requests of a task: those that were recorded with those that the program of today makes. `ends_early` says that only the
/// first one was made, because the task has not got its answer.
pub(super) fn compare(
    context: &Context<'_>,
    task: &Task,
    made: &[(u32, Vec<u8>)],
    ends_early: bool,
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
    let several = task.requests.len() > 1 && !ends_early;
    let count = if ends_early {
        made.len()
    } else {
        made.len().max(task.requests.len())
    };
    for number in 0..count {
        let name = |part: &str| {
            if several {
                format!("{part} of request {}", number + 1)
            } else {
                part.to_string()
            }
        };
        let (was, is) = (task.requests.get(number), made.get(number));
        match (was, is) {
            (Some(was), Some((_, is))) => {
                replayed.requests += 1;
                let (was, is) = (parts(was), parts(is));
                for (part, expected, found) in differing(&was, &is) {
                    replayed.add(difference(name(&part), expected, found));
                }
            }
            (Some(_), None) => replayed.add(difference(name(""), "a request".into(), "-".into())),
            // The thread was stored by a program that did not record requests, or the task has made no request then.
            (None, Some(_)) => {
                let recorded = "not recorded".to_string();
                replayed.add(difference(name(""), recorded, "a request".into()));
            }
            (None, None) => {}
        }
    }
}

/// The parts of a request, in their order.
fn parts(request: &[u8]) -> Vec<(String, Part)> {
    let form = to_form(request);
    let parts = form.as_array().into_iter().flatten();
    let read = parts.filter_map(|part| {
        let whole = part.get("is");
        let value = whole.or(part.get("value")).cloned();
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
            (Some(was), Some(is)) if was.digest.is_some() && is.digest.is_some() => {
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
    rows
}
