//! Documents with errors, as far as they can be read.

use crate::source::{Content, Format, Report, Source};

use crate::conversations::conversation::Conversation;
use crate::conversations::finding::{Code, Diagnostics};
use crate::conversations::source::{self, Form};

/// Checks a document, and reads it even if it has errors.
///
/// `conversation!` needs the names in a document with errors, so that a mistake in the document is not also an error
/// wherever the program uses these names.
#[doc(hidden)]
pub fn check_leniently(source: &Source) -> (Option<Conversation>, Diagnostics) {
    let (conversation, diagnostics) = source.inspect_content(|content, report| {
        let inspected = source::inspect(content, report);
        let conversation = inspected.and_then(|(_, conversation)| conversation);
        conversation.or_else(|| read(content))
    });
    // YAML allows more than JSON, such as a comma too many.
    let conversation = conversation.or_else(|| {
        let yaml = source.clone().format(Format::Yaml);
        yaml.inspect_content(|content, _: &mut Report<Code>| read(content))
            .0
    });
    (conversation, diagnostics)
}

fn read(content: Content<'_>) -> Option<Conversation> {
    Some(match source::form(content)? {
        Form::Config => Conversation::of_config(&content.repaired(&source::CONFIG, source::CODES)?),
        Form::Editor => Conversation::of_editor(&content.repaired(&source::EDITOR, source::CODES)?),
        Form::Static => Conversation::of_static(&content.repaired(&source::STATIC, source::CODES)?),
    })
}
