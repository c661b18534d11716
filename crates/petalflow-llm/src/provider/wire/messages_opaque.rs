//! The blocks of Anthropic that only it uses, and the container in which it runs code.

use serde_json::Value;

use super::origins;
use crate::LlmRequest;
use crate::provider::catalog::Target;
use crate::stream::Delta;

/// The type of the opaque part for the container in which the provider runs code. It is a field of the next request.
pub(super) const CONTAINER: &str = "container";

/// The part for a container.
pub(super) fn container(mut container: Value) -> Delta {
    container["type"] = CONTAINER.into();
    origins::opaque(container)
}

/// The id of the last container of the conversation.
pub(super) fn last_container<'r>(target: &Target<'_>, request: &'r LlmRequest) -> Option<&'r str> {
    let parts = request.messages.iter().rev();
    let mut parts = parts.flat_map(|message| message.parts.iter().rev());
    parts.find_map(|part| {
        let block = target
            .opaque(part)
            .filter(|block| block["type"] == CONTAINER)?;
        block["id"].as_str()
    })
}

/// Adds a piece to a block that only the provider uses: a piece of its input, or of a text in it.
pub(super) fn read_opaque(block: &mut Value, input: &mut String, delta: &Value) {
    for (name, value) in delta.as_object().into_iter().flatten() {
        match (&**name, value) {
            ("type", _) => {}
            ("partial_json", Value::String(piece)) => input.push_str(piece),
            (name, value) => match (&mut block[name], value) {
                (Value::String(text), Value::String(piece)) => text.push_str(piece),
                (field, value) => *field = value.clone(),
            },
        }
    }
}
