//! The rules of documents, one function each. A function `check` lists the rules of its file.

pub(crate) mod agent;
mod conditional;
mod contents;
mod cycle;
mod dependencies;
pub(crate) mod format;
mod forms;
pub(crate) mod graph;
mod missing;
mod options;
mod patterns;
mod results;
mod settings;
mod targets;
mod templates;
mod texts;
mod webhooks;

use crate::documents::diagnostic::Report;
use crate::source::names::suggestion;

pub use settings::inner_node_setting;
pub(crate) use settings::normalized;

/// A similar name is suggested while there are fewer findings than this. A suggestion compares a name with all names of the
/// document, which takes too long for each edge of a large graph.
const MAX_SUGGESTIONS: usize = 20;

/// A suggestion for a name that is unknown, if there are few findings.
fn suggestion_if_few<'n>(
    report: &Report,
    unknown: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> String {
    if report.0.len() < MAX_SUGGESTIONS {
        suggestion(unknown, known)
    } else {
        String::new()
    }
}
