//! Each of these nodes is one of another state. In an incremental build, an error of two items would be two errors.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[state]
struct Report {
    #[key(input)]
    title: String,
    body: String,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.to_string())
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    if draft.is_empty() {
        Verdict::Revise
    } else {
        Verdict::Publish
    }
}

#[node(Report)]
async fn publish(title: &str) -> ReportBody {
    ReportBody(title.to_string())
}

#[node(Report)]
async fn explain(#[item] failed: &NodeError) -> ReportBody {
    ReportBody(failed.message.to_string())
}

/// Searches the library.
#[tool]
async fn search(query: String) -> String {
    query
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique -> match { Revise => write, Publish => publish };
        publish -> search;
        catch critique -> explain;
    }
}

fn main() {}
