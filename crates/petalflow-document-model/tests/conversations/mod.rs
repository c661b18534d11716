//! Documents of conversation flows.

mod conversions;
mod decisions;
mod declarative;
mod editor;
mod findings;
mod includes;
mod parameters;
mod placeholders;
mod providers;
mod shortcuts;
mod statics;
mod texts;

use std::path::Path;

/// A document of other projects, or nothing with a line that says why.
fn shared_document(path: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pipecat");
    let text = std::fs::read_to_string(folder.join(path)).ok();
    if text.is_none() {
        println!(
            "skipped: the test data `shared/data/pipecat/{path}` is not beside the repository"
        );
    }
    text
}

fn messages(findings: &[petalflow_document_model::conversations::Finding]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect()
}
