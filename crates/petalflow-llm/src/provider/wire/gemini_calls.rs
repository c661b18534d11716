//! The calls in Gemini's answers.

use serde_json::{Value, json};

use super::gemini_computer;
use super::gemini_parts::text;
use crate::native::ComputerUse;
use crate::stream::Delta;

/// Reads the calls of an answer. Those that are actions at a computer are one call, because they have an order.
#[derive(Debug, Default)]
pub(super) struct CallReader {
    calls: usize,
    /// The functions that are actions at a computer.
    actions: Vec<&'static str>,
    /// The index of the call with the actions of the answer, and how many there are.
    computer: Option<(usize, usize)>,
    /// The call whose arguments are still incomplete.
    open: Option<OpenCall>,
}

/// A call whose arguments are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCall {
    pub(super) index: usize,
    /// The number of the action at a computer, if it is one.
    pub(super) action: Option<usize>,
}

impl CallReader {
    /// Reads the response to a request with this body.
    pub(super) fn of(body: &Value) -> Self {
        CallReader {
            actions: gemini_computer::functions_of(body),
            ..Self::default()
        }
    }

    /// Reads a call, or a chunk of one: some calls send their arguments by path.
    pub(super) fn read(&mut self, call: &Value, deltas: &mut Vec<Delta>) -> OpenCall {
        let name = text(call, "name").filter(|name| !name.is_empty());
        let before = self.open.filter(|_| name.is_none());
        let open = before.unwrap_or_else(|| self.begin(name.as_deref()));
        let continues = call.get("willContinue").and_then(Value::as_bool) == Some(true);
        self.open = continues.then_some(open);
        let within = match open.action {
            None => {
                deltas.push(Delta::Call {
                    index: open.index,
                    id: text(call, "id"),
                    name,
                    arguments: arguments(call).map_or_else(String::new, Value::to_string),
                });
                String::from("$")
            }
            Some(number) => action(open.index, number, name, call, deltas),
        };
        let chunks = call.get("partialArgs").and_then(Value::as_array);
        for chunk in chunks.into_iter().flatten() {
            let value = ["stringValue", "numberValue", "boolValue"]
                .iter()
                .find_map(|kind| chunk.get(kind));
            deltas.extend(text(chunk, "jsonPath").map(|path| Delta::Argument {
                index: open.index,
                path: joined(&within, &path),
                value: value.cloned().unwrap_or(Value::Null),
            }));
        }
        open
    }

    /// The next call.
    fn begin(&mut self, name: Option<&str>) -> OpenCall {
        let is_action = name.is_some_and(|name| self.actions.contains(&name));
        if is_action && let Some((index, actions)) = &mut self.computer {
            *actions += 1;
            return OpenCall {
                index: *index,
                action: Some(*actions - 1),
            };
        }
        let index = self.calls;
        self.calls += 1;
        if is_action {
            self.computer = Some((index, 1));
        }
        OpenCall {
            index,
            action: is_action.then_some(0),
        }
    }
}

/// Reads an action, or a chunk of one. Returns the path of its arguments.
fn action(
    index: usize,
    number: usize,
    name: Option<String>,
    call: &Value,
    deltas: &mut Vec<Delta>,
) -> String {
    let path = gemini_computer::path(number);
    let mut chunk = |field: &str, value: Value| {
        let path = format!("{path}.{field}");
        deltas.push(Delta::Argument { index, path, value });
    };
    let id = text(call, "id");
    if let Some(name) = name {
        chunk("name", name.into());
        let arguments = arguments(call).cloned();
        chunk("args", arguments.unwrap_or_else(|| json!({})));
        if let Some(id) = id.clone().filter(|_| number > 0) {
            chunk("id", id.into());
        }
    }
    if number == 0 {
        // The call has the id of its first action.
        let name = Some(ComputerUse::NAME.to_string());
        let arguments = String::new();
        let call = Delta::Call {
            index,
            id,
            name,
            arguments,
        };
        deltas.push(call);
    }
    format!("{path}.args")
}

/// The path of a value within this one.
fn joined(within: &str, path: &str) -> String {
    let path = path.strip_prefix('$').unwrap_or(path);
    let dot = if path.is_empty() || path.starts_with(['.', '[']) {
        ""
    } else {
        "."
    };
    format!("{within}{dot}{path}")
}

fn arguments(call: &Value) -> Option<&Value> {
    call.get("args").filter(|arguments| !arguments.is_null())
}
