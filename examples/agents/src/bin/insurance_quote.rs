//! A quote by a declarative document in YAML: `cargo run --bin insurance_quote`.
//!
//! The conversation is in a SQLite file. The program can be stopped at any time and continues there. Without a key, a script
//! replaces the model.

use std::path::{Path, PathBuf};

use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Thread};
use petalflow::tool::ToolContext;
use petalflow_agent_examples::{choose, phone};
use petalflow_conversations::document::{Source, check};
use petalflow_conversations::{ConversationFlow, TurnFlow};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};

const DOCUMENT: &str = include_str!("../../conversations/insurance_quote.flow.yaml");

/// Records the caller's age.
#[tool]
fn set_age(
    /// In years.
    age: u32,
    cx: ToolContext,
) -> Value {
    cx.set_state("age", age);
    cx.set_state("quote", quote(age, 100_000));
    json!({ "insurable": age >= 18 })
}

/// Changes the coverage and calculates a new price.
#[tool]
fn set_coverage(
    /// In dollars.
    coverage: u32,
    cx: ToolContext,
) {
    let age = cx
        .state("age")
        .and_then(|age| age.as_u64())
        .unwrap_or_default();
    cx.set_state(
        "quote",
        quote(u32::try_from(age).unwrap_or(u32::MAX), coverage),
    );
}

fn quote(age: u32, coverage: u32) -> Value {
    json!({ "coverage": coverage, "price": u64::from(age) * u64::from(coverage) / 50_000 })
}

async fn open(file: &Path, model: impl LlmClient) -> petalflow::Result<Thread<TurnFlow>> {
    let source = Source::new("insurance_quote.flow.yaml", DOCUMENT);
    let checked = check(&source).map_err(|errors| errors.to_string())?;
    let flow = ConversationFlow::builder(checked.conversation).model(model);
    let flow = flow.tools(tools![set_age, set_coverage]).build();
    let flow = flow.map_err(|errors| errors.to_string())?;
    let calls = flow.store(&SqliteStore::open(file).await?);
    // The run before this one may still release the thread.
    Ok(calls.on_busy(OnBusy::Queue).thread("caller"))
}

/// Understands numbers and `yes`.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let last = request.messages.last();
        let message = last
            .filter(|it| it.role == Role::User)
            .map(|it| it.text().to_lowercase());
        let message = message.unwrap_or_default();
        let number = message
            .split_whitespace()
            .find_map(|word| word.parse::<u32>().ok());
        match number {
            Some(age) if offers("set_age") => Reply::call("set_age", json!({ "age": age })),
            Some(coverage) if offers("set_coverage") => {
                Reply::call("set_coverage", json!({ "coverage": coverage }))
            }
            None if offers("accept") && message.contains("yes") => Reply::call("accept", json!({})),
            _ => {
                let task = request
                    .messages
                    .iter()
                    .rev()
                    .find(|it| it.role == Role::System);
                format!("({})", task.map(ChatMessage::text).unwrap_or_default()).into()
            }
        }
    })
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let file = std::env::args_os()
        .nth(1)
        .map_or_else(|| "quote.db".into(), PathBuf::from);
    let choice = choose(script())?;
    println!("{}", choice.description);
    let thread = open(&file, choice.model).await?;
    phone::talk(&thread, std::io::stdin().lock(), std::io::stdout()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn says(file: &Path, lines: &str) -> String {
        let mut screen = Vec::new();
        let thread = open(file, script()).await.unwrap();
        phone::talk(&thread, lines.as_bytes(), &mut screen)
            .await
            .unwrap();
        String::from_utf8(screen).unwrap()
    }

    #[tokio::test]
    async fn a_quote_that_changes_over_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("quote.db");
        let output = says(&file, "I am 40\n").await;
        assert!(
            output.contains("One moment, I am calculating.\n[quote]\n"),
            "{output}"
        );
        assert!(
            output.contains("The price is 80 dollars a month for 100000 dollars"),
            "{output}"
        );
        let output = says(&file, "and 200000 of coverage?\nyes\n").await;
        assert!(
            output.contains("The price is 160 dollars a month for 200000 dollars"),
            "{output}"
        );
        assert!(
            output.ends_with("(Say that a contract follows by mail, and say goodbye.)\n"),
            "{output}"
        );
    }

    #[tokio::test]
    async fn a_caller_who_is_too_young() {
        let folder = tempfile::tempdir().unwrap();
        let output = says(&folder.path().join("quote.db"), "17\n").await;
        assert!(output.contains("[too_young]"), "{output}");
    }
}
