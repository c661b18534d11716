//! Documents with errors, as far as they can be read.

use petalflow_source::{Format, Order, Pointer, Report, Source, schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::finding::{Code, Diagnostics};
use crate::source::{self, Form};

/// Checks a document, and reads it even if it has errors.
///
/// `conversation!` needs the names in a document with errors, so that a mistake in the document is not also an error
/// wherever the program uses these names.
#[doc(hidden)]
pub fn check_leniently(source: &Source) -> (Option<Conversation>, Diagnostics) {
    let (conversation, diagnostics) = source.inspect_in_order(|value, order, report| {
        let inspected = source::inspect(value, order, report);
        let conversation = inspected.and_then(|(_, conversation)| conversation);
        conversation.or_else(|| read(value, order))
    });
    // YAML allows more than JSON, such as a comma too many.
    let conversation = conversation.or_else(|| {
        let yaml = source.clone().format(Format::Yaml);
        yaml.inspect_in_order(|value, order, _: &mut Report<Code>| read(value, order))
            .0
    });
    (conversation, diagnostics)
}

fn read(value: &Value, order: Order<'_>) -> Option<Conversation> {
    Some(match source::form(value)? {
        Form::Config => Conversation::of_config(&repaired(source::config_schema(), value, order)?),
        Form::Editor => Conversation::of_editor(&repaired(source::editor_schema(), value, order)?),
        Form::Static => Conversation::of_static(&repaired(source::static_schema(), value, order)?),
    })
}

/// Without what is wrong, and with empty values in place of what is missing.
fn repaired<T: DeserializeOwned>(schema: Value, value: &Value, order: Order<'_>) -> Option<T> {
    let mut report = Report::default();
    let checked = schema::check(&schema, value, &Pointer::root(), source::CODES, &mut report);
    order.read(&checked).ok()
}
