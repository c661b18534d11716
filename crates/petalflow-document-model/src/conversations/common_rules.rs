//! Rules that hold in documents of every form.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::conversations::action::Action;
use crate::conversations::finding::{Code, Findings};
use crate::conversations::legacy::UNREAD;
use crate::conversations::message::Message;
use crate::conversations::parameter_rules::{Budget, parameter_errors};
use crate::conversations::parameters::Parameters;
use crate::source::Pointer;
use crate::source::names::{shown, similar, suggestion};
use serde_json::{Map, Value};

/// The roles of messages.
const ROLES: [&str; 4] = ["developer", "system", "user", "assistant"];

/// Fields that are almost one of the optional ones, which the object does not have. Others may have any name. Returns the
/// fields that were meant.
pub(crate) fn check_fields<'k>(
    extra: &Map<String, Value>,
    optional: &[(&'k str, bool)],
    at: &Pointer,
    findings: &mut Findings,
) -> Vec<&'k str> {
    let mut meant = Vec::new();
    for name in extra.keys() {
        if !findings.hints.may_compare() {
            break;
        }
        let absent = optional.iter().filter(|(_, is_there)| !is_there);
        if let Some(known) = similar(name, absent.map(|(known, _)| *known)) {
            let message = format!(
                "there is no field `{}`; did you mean `{known}`?",
                shown(name)
            );
            findings.add(Code::UnknownField, at.name(name), message);
            meant.push(known);
        }
    }
    meant
}

/// Schemas of a function's arguments in fields that its form does not read: `field` is the one that it reads. Returns the other
/// fields.
pub(crate) fn schema_is_read<'e>(
    function: &str,
    field: &str,
    extra: &'e Map<String, Value>,
    at: &Pointer,
    findings: &mut Findings,
) -> Cow<'e, Map<String, Value>> {
    for name in extra.keys().filter(|name| UNREAD.contains(&name.as_str())) {
        let name = name.as_str();
        let problem = match field {
            "properties" => format!(
                "`{name}`, which is not read, so arguments would not be checked; write its `properties` and `required` beside the \
                 name of the function"
            ),
            _ => format!("`{name}` beside `{field}`; write it into `{field}`"),
        };
        let message = format!("function '{}' has {problem}", shown(function));
        findings.add(Code::BadFunction, at.name(name), message);
    }
    if !extra.keys().any(|name| UNREAD.contains(&name.as_str())) {
        return Cow::Borrowed(extra);
    }
    let mut others = extra.clone();
    others.retain(|name, _| !UNREAD.contains(&name.as_str()));
    Cow::Owned(others)
}

/// Messages of a form that does not say which roles there are.
pub(crate) fn check_messages(
    messages: &[Message],
    at: impl Fn() -> Pointer,
    findings: &mut Findings,
) {
    for (index, message) in messages.iter().enumerate() {
        let role = message.role.as_str();
        if !ROLES.contains(&role) {
            let message = format!(
                "`{}` is not one of `{}`{}",
                shown(role),
                ROLES.join("`, `"),
                suggestion(role, ROLES)
            );
            findings.add(Code::WrongValue, at().item(index).name("role"), message);
        }
        let at = || at().item(index).name("content");
        check_template(&message.content, at, findings);
    }
}

/// What built-in actions need.
pub(crate) fn check_actions(actions: &[Action], at: &Pointer, findings: &mut Findings) {
    for (index, action) in actions.iter().enumerate() {
        let at = || at.item(index);
        let optional: &[_] = match action.kind.as_str() {
            Action::FUNCTION => &[("handler", action.handler.is_some())],
            Action::TTS_SAY | Action::END_CONVERSATION => &[("text", action.text.is_some())],
            kind => {
                if action.handler.is_none() {
                    check_kind(kind, at, findings);
                }
                &[]
            }
        };
        let meant = match optional {
            // Paths cost more than the check.
            [] => Vec::new(),
            _ if action.extra.is_empty() => Vec::new(),
            _ => check_fields(&action.extra, optional, &at(), findings),
        };
        match (action.kind.as_str(), &action.handler) {
            (Action::FUNCTION, None) if meant.is_empty() => findings.add(
                Code::BadAction,
                at(),
                "a 'function' action requires a 'handler' name".to_owned(),
            ),
            (kind @ (Action::TTS_SAY | Action::END_CONVERSATION), Some(_)) => findings.add(
                Code::BadAction,
                at().name("handler"),
                format!("action type '{kind}' does not take a 'handler': it is built in"),
            ),
            _ => {}
        }
        if action.kind == Action::TTS_SAY && action.text.is_none() && meant.is_empty() {
            findings.add(
                Code::SilentAction,
                at(),
                "a 'tts_say' action without 'text' says nothing and is skipped".to_owned(),
            );
        }
        if let Some(text) = &action.text {
            check_template(text, || at().name("text"), findings);
        }
    }
}

/// An action of the program's own without a `handler`, whose type is almost a built-in one.
fn check_kind(kind: &str, at: impl Fn() -> Pointer, findings: &mut Findings) {
    const KINDS: [&str; 3] = [Action::TTS_SAY, Action::END_CONVERSATION, Action::FUNCTION];
    if let Some(meant) = similar(kind, KINDS) {
        let message = format!(
            "there is no action type `{}`; did you mean `{meant}`? An action of the program's own whose type is this similar \
             needs a `handler`",
            shown(kind)
        );
        findings.add(Code::BadAction, at().name("type"), message);
    }
}

/// `at` is only called if something is wrong: paths cost more than the check.
pub(crate) fn check_template(text: &str, at: impl FnOnce() -> Pointer, findings: &mut Findings) {
    if let Err(error) = text.parse::<crate::conversations::Template>() {
        findings.add(Code::BadPlaceholder, at(), error.to_string());
    }
}

/// Parameters that cannot be checked, or that no value fits. `at` is the object that has the `properties`.
pub(crate) fn check_parameters(
    function: &str,
    parameters: &Parameters,
    at: &Pointer,
    budget: &mut Budget,
    findings: &mut Findings,
) {
    let mut seen = HashSet::new();
    for (index, required) in parameters.required.iter().enumerate() {
        let message = if !parameters.properties.contains_key(required) {
            let hint = findings
                .hints
                .similar(required, parameters.properties.keys());
            format!(
                "function '{function}' requires '{required}', which is not in its properties{hint}"
            )
        } else if !seen.insert(required) {
            format!("function '{function}' requires '{required}' twice: remove one of them")
        } else {
            continue;
        };
        let at = at.name("required").item(index);
        findings.add(Code::BadParameter, at, message);
    }
    if parameters.properties.is_empty() {
        return;
    }
    for error in parameter_errors(parameters, at, budget) {
        let message = format!(
            "parameter '{}' of function '{function}' {}",
            error.parameter, error.problem
        );
        findings.add(error.code, error.pointer, message);
    }
}
