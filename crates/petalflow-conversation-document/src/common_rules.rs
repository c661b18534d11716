//! Rules that hold in documents of every form.

use crate::action::Action;
use crate::arguments::{Budget, parameter_errors};
use crate::finding::{Code, Findings};
use crate::parameters::Parameters;
use petalflow_source::Pointer;

/// What built-in actions need.
pub(crate) fn check_actions(actions: &[Action], at: &Pointer, findings: &mut Findings) {
    for (index, action) in actions.iter().enumerate() {
        let at = || at.item(index);
        match (action.kind.as_str(), &action.handler) {
            (Action::FUNCTION, None) => findings.add(
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
        if action.kind == Action::TTS_SAY && action.text.is_none() {
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

/// `at` is only called if something is wrong: paths cost more than the check.
pub(crate) fn check_template(text: &str, at: impl FnOnce() -> Pointer, findings: &mut Findings) {
    if let Err(error) = text.parse::<crate::Template>() {
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
    for error in parameter_errors(parameters, at, budget) {
        let message = format!(
            "parameter '{}' of function '{function}' {}",
            error.parameter, error.problem
        );
        findings.add(Code::BadParameter, error.pointer, message);
    }
}
