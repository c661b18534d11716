//! An agent with limits, compaction, guardrails and artifacts: `cargo run --bin careful`.
//!
//! It takes notes for its user. The conversation is in an SQLite file, the notes are files in a folder.
//!
//! ```sh
//! printf 'note: buy tulips\nmy card is 4000123456789010\nnote: water them\n' | cargo run --bin careful
//! ```

use std::io::BufRead;

use petalflow::prelude::*;
use petalflow_agent::artifacts::{ArtifactFolder, Artifacts, Folder};
use petalflow_agent::compaction::{LastMessages, Summary};
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_agent::{Agent, Limits};
use petalflow_agent_examples::choose;
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde_json::json;

/// Saves the user's notes, in place of the earlier ones.
#[tool]
async fn save_notes(
    /// All notes, in a line each.
    notes: String,
    files: Managed<ArtifactFolder>,
) -> petalflow::Result<String> {
    let version = files
        .write("notes.txt", "text/plain", notes.as_bytes())
        .await?;
    Ok(format!("saved as version {version}"))
}

/// A script that answers like a model.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let Some(last) = request.messages.last() else {
            return Reply::text("Nothing was said.");
        };
        match last.text().strip_prefix("note: ") {
            _ if last.role == Role::Tool => Reply::text("I have saved it."),
            Some(note) => Reply::call("save_notes", json!({ "notes": note })),
            None if last.text().starts_with("user:") => Reply::text("The user takes notes."),
            None => Reply::text("Say `note: ..`."),
        }
    })
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let choice = choose(script())?;
    println!("{}", choice.description);
    let no_cards = guardrail::on_input("no card numbers", |message: ChatMessage| async move {
        let digits = message.text().chars().filter(char::is_ascii_digit).count();
        Ok(match digits {
            0..13 => Verdict::Pass,
            _ => Verdict::block("Please do not send card numbers."),
        })
    });
    let agent = Agent::new(choice.model.clone())
        .instructions("You keep the notes of the user. They are: {artifact.notes.txt?}")
        .tool(save_notes {})
        .guardrail(no_cards)
        .compaction(Summary::new(choice.model, LastMessages::new(20)))
        .turn_limits(Limits::new().requests(10).tool_calls(20))
        .thread_limits(Limits::new().total_tokens(200_000));
    let artifacts = Artifacts::new(Folder::new("notes"));
    let launch = agent.launch().manage_with(artifacts.for_threads());
    let thread = launch
        .store(&SqliteStore::open("careful.db").await?)
        .thread("me");
    for line in std::io::stdin().lock().lines() {
        let talk = thread.run(line?.as_str()).await?.into_finished()?;
        let usage = talk.usage();
        println!(
            "{talk}  ({} requests, {} tool calls)",
            usage.requests, usage.tool_calls
        );
    }
    for version in artifacts.thread("me")?.versions("notes.txt").await? {
        println!("notes.txt has version {version}");
    }
    Ok(())
}
