//! What a provider warns of before an action at a computer.

use serde_json::Value;

use petalflow_llm::native::ComputerUse;

/// The question for a person about a call of this tool, if the provider of the model warns of it. No approval of the program
/// replaces the answer.
pub(crate) fn question(tool: &str, arguments: &Value) -> Option<String> {
    if tool != ComputerUse::NAME {
        return None;
    }
    let warnings = ComputerUse::warnings(arguments);
    (!warnings.is_empty()).then(|| {
        format!(
            "The provider of the model warns of this action: {}. Do it?",
            warnings.join("; ")
        )
    })
}
