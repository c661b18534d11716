//! Documents with errors, as far as they can be read.

use petalflow_source::{Format, Pointer, Report, Source, schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::convert::{from_config, from_editor, from_static};
use crate::finding::{Code, Diagnostics};
use crate::source::{self, Form};

/// Checks a document, and reads it even if it has errors.
///
/// `conversation!` needs the names in a document with errors, so that a mistake in the document is not also an error
/// wherever the program uses these names.
#[doc(hidden)]
pub fn check_leniently(source: &Source) -> (Option<Conversation>, Diagnostics) {
    let (conversation, diagnostics) = source.inspect(|value, report| {
        let inspected = source::inspect(value, report);
        let conversation = inspected.and_then(|(_, conversation)| conversation);
        conversation.or_else(|| read(value))
    });
    // YAML allows more than JSON, such as a comma too many.
    let conversation = conversation.or_else(|| {
        let yaml = source.clone().format(Format::Yaml);
        yaml.inspect(|value, _: &mut Report<Code>| read(value)).0
    });
    (conversation, diagnostics)
}

fn read(value: &Value) -> Option<Conversation> {
    Some(match source::form(value)? {
        Form::Config => from_config::convert(&repaired(source::config_schema(), value)?),
        Form::Editor => from_editor::convert(&repaired(source::editor_schema(), value)?),
        Form::Static => from_static::convert(&repaired(source::static_schema(), value)?),
    })
}

/// Without what is wrong, and with empty values in place of what is missing.
fn repaired<T: DeserializeOwned>(schema: Value, value: &Value) -> Option<T> {
    let mut report = Report::default();
    let checked = schema::check(&schema, value, &Pointer::root(), source::CODES, &mut report);
    serde_json::from_value(checked).ok()
}
