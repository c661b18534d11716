//! A chat in the terminal, with tools, a memory and confirmations: `cargo run --bin assistant`.
//!
//! It uses the model that the environment names (see the crate's `choose`), and a script if there is none. The conversation, the
//! memory and pending confirmations are in one SQLite file. The program can be stopped at any time and continues there.
//!
//! ```sh
//! cargo run --bin assistant
//! printf 'remember that I like tulips\nwhat do you know?\n' | cargo run --bin assistant -- --db chat.db
//! ```

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Thread};
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{Agent, AgentEvent, AgentFlow, Conversation, ConversationInput, Pending};
use petalflow_agent_examples::{Newest, choose, newest, word_by_word};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Reply, ScriptedModel};
use petalflow_memory::{Entry, Memory, SqliteMemory};
use petalflow_sqlite::SqliteStore;
use serde_json::json;

/// Remembers something about the user, in this conversation and all others.
#[tool]
async fn remember(
    /// What to remember, in one sentence.
    fact: String,
    memory: Managed<Memory>,
) -> petalflow::Result<String> {
    // The text is the key, so the same fact is stored once.
    memory.within("facts").put(&fact, &fact).await?;
    Ok(format!("remembered: {fact}"))
}

/// Lists what is remembered about the user.
#[tool]
async fn recall(memory: Managed<Memory>) -> petalflow::Result<Vec<String>> {
    let facts = memory.within("facts").list().await?;
    Ok(facts
        .iter()
        .map(Entry::value_as)
        .collect::<Result<_, _>>()?)
}

/// Forgets everything that is remembered about the user. It cannot be undone.
#[tool(confirm = "this forgets everything, and cannot be undone")]
async fn forget_everything(memory: Managed<Memory>) -> petalflow::Result<String> {
    let facts = memory.within("facts");
    let all = facts.list().await?;
    for entry in &all {
        facts.delete(&entry.key).await?;
    }
    Ok(format!("forgot {} facts", all.len()))
}

fn assistant(model: impl LlmClient) -> Agent {
    Agent::new(model)
        .name("assistant")
        .instructions("You are a helpful assistant. Remember what the user tells you about themselves, and use it.")
        .tools(tools![remember, recall, forget_everything])
        .streaming()
}

/// Answers by simple rules if there is no model.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| match newest(request) {
        Newest::User(text) => {
            let lower = text.to_lowercase();
            if lower.contains("forget") {
                Reply::call("forget_everything", json!({}))
            } else if lower.starts_with("remember") {
                let fact = text["remember".len()..].trim().trim_start_matches("that ");
                Reply::call("remember", json!({ "fact": fact }))
            } else if lower.contains("know") {
                Reply::call("recall", json!({}))
            } else {
                word_by_word(&format!(
                    "You said: {text} I follow a script; say `remember …`, `what do you know?` or `forget everything`."
                ))
            }
        }
        Newest::Result { content, .. } => {
            let result = content.get("error").unwrap_or(&content);
            match result.as_array() {
                Some(facts) if facts.is_empty() => word_by_word("I know nothing about you yet."),
                Some(facts) => {
                    let facts: Vec<_> = facts.iter().filter_map(|fact| fact.as_str()).collect();
                    word_by_word(&format!("I know this: {}.", facts.join("; ")))
                }
                None => word_by_word(&format!(
                    "Done: {}.",
                    result.as_str().unwrap_or("nothing to say")
                )),
            }
        }
    })
}

/// The lines of the user, and the output.
struct Terminal<R, W> {
    lines: std::io::Lines<R>,
    screen: W,
}

impl<R: BufRead, W: Write> Terminal<R, W> {
    fn ask(&mut self, prompt: &str) -> std::io::Result<Option<String>> {
        write!(self.screen, "{prompt}")?;
        self.screen.flush()?;
        let line = self.lines.next().transpose()?;
        if line.is_none() {
            writeln!(self.screen)?;
        }
        Ok(line)
    }

    /// Prints the events of the assistant as they arrive.
    async fn show(&mut self, mut events: AgentEvents) -> petalflow::Result<Conversation> {
        let mut in_pieces = false;
        while let Some(progress) = events.next().await {
            match progress.kind {
                AgentEventKind::Partial(piece) => {
                    in_pieces |= !piece.text().is_empty();
                    write!(self.screen, "{}", piece.text())?;
                }
                AgentEventKind::Event(event) => {
                    self.show_event(&event, std::mem::take(&mut in_pieces))?;
                }
                AgentEventKind::Retry { error } => {
                    in_pieces = false;
                    writeln!(self.screen, "\n({error}; once more)")?;
                }
                AgentEventKind::Finished(talk) => return Ok(*talk),
                AgentEventKind::Failed(error) => return Err(error.into()),
                _ => {}
            }
            self.screen.flush()?;
        }
        Err("the run ended without an end".into())
    }

    fn show_event(&mut self, event: &AgentEvent, was_shown: bool) -> std::io::Result<()> {
        if was_shown {
            writeln!(self.screen)?;
        } else if !event.text().is_empty() {
            writeln!(self.screen, "{}", event.text())?;
        }
        // Confirmations are requested at the end of the turn.
        let calls = event.message.iter().flat_map(ChatMessage::calls);
        for call in calls.filter(|call| !event.long_running.contains(&call.id)) {
            writeln!(self.screen, "[{} {}]", call.name, call.arguments)?;
        }
        Ok(())
    }

    /// Asks about each call that needs a confirmation. None if the input has ended: the question stays open.
    fn decide(&mut self, pending: &[Pending]) -> std::io::Result<Option<ConversationInput>> {
        let mut decisions = ConversationInput::default();
        for waiting in pending {
            let Pending::Confirmation { id, call, hint } = waiting else {
                continue;
            };
            let Some(line) = self.ask(&format!("{}: {hint}. Do it? [y/N] ", call.name))? else {
                return Ok(None);
            };
            let yes = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
            decisions = decisions.confirm(id, yes);
        }
        Ok(Some(decisions))
    }
}

/// Runs turns until the input ends.
async fn chat<R: BufRead, W: Write>(
    thread: Thread<AgentFlow>,
    mut terminal: Terminal<R, W>,
) -> petalflow::Result<()> {
    let mut pending = Vec::new();
    if let Some(before) = thread.snapshot().await? {
        writeln!(
            terminal.screen,
            "(continuing after {} messages)",
            before.state.events.len()
        )?;
        pending = before.state.pending();
    }
    loop {
        let input = if pending.is_empty() {
            match terminal.ask("> ")? {
                None => return Ok(()),
                Some(line) if line.trim().is_empty() => continue,
                Some(line) => line.into(),
            }
        } else {
            match terminal.decide(&pending)? {
                None => return Ok(()),
                Some(decisions) => decisions,
            }
        };
        let events = AgentEvents::new(thread.run(input).events());
        // A model that cannot be reached ends the turn, not the chat.
        match terminal.show(events).await {
            Ok(talk) => pending = talk.pending(),
            Err(error) => writeln!(terminal.screen, "error: {error}")?,
        }
    }
}

async fn open(file: &Path, agent: Agent, name: &str) -> petalflow::Result<Thread<AgentFlow>> {
    let store = SqliteStore::open(file).await?;
    let memory = Memory::new(SqliteMemory::beside(&store)).within(["users", "me"]);
    let threads = agent.launch().manage(memory).store(&store);
    // The run before this one may still release the thread.
    Ok(threads.on_busy(OnBusy::Queue).thread(name))
}

const USAGE: &str = "usage: assistant [--db FILE] [--thread NAME]";

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let (mut file, mut name) = (PathBuf::from("assistant.db"), "chat".to_string());
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("db") => file = parser.value()?.into(),
            Long("thread") => name = parser.value()?.string()?,
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    let choice = choose(script())?;
    println!("{}", choice.description);
    let thread = open(&file, assistant(choice.model), &name).await?;
    let terminal = Terminal {
        lines: std::io::stdin().lock().lines(),
        screen: std::io::stdout(),
    };
    chat(thread, terminal).await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn says(file: &Path, lines: &str) -> String {
        let mut screen = Vec::new();
        let thread = open(file, assistant(script()), "chat").await.unwrap();
        let terminal = Terminal {
            lines: lines.as_bytes().lines(),
            screen: &mut screen,
        };
        chat(thread, terminal).await.unwrap();
        String::from_utf8(screen).unwrap()
    }

    #[tokio::test]
    async fn it_remembers_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat.db");
        let output = says(&file, "hello\nremember that I like tulips\n").await;
        assert!(output.starts_with("> You said: hello"), "{output}");
        assert!(
            output.contains(
                "[remember {\"fact\":\"I like tulips\"}]\nDone: remembered: I like tulips.\n"
            ),
            "{output}"
        );
        let output = says(&file, "what do you know?\n").await;
        assert!(output.starts_with("(continuing after "), "{output}");
        assert!(output.contains("I know this: I like tulips."), "{output}");
    }

    #[tokio::test]
    async fn a_person_decides_even_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat.db");
        says(&file, "remember that I like tulips\n").await;
        let output = says(&file, "forget everything\nno\nwhat do you know?\n").await;
        assert!(
            output.contains(
                "forget_everything: this forgets everything, and cannot be undone. Do it? [y/N] "
            ),
            "{output}"
        );
        assert!(output.contains("I know this: I like tulips."), "{output}");
        // The program ends while it asks; the next one asks again.
        says(&file, "forget everything\n").await;
        let output = says(&file, "yes\nwhat do you know?\n").await;
        assert!(output.contains("Done: forgot 1 facts."), "{output}");
        assert!(output.contains("I know nothing about you yet."), "{output}");
    }

    #[tokio::test]
    async fn a_model_that_is_away_ends_the_turn_only() {
        use petalflow_llm::{LlmError, LlmErrorKind};
        let folder = tempfile::tempdir().unwrap();
        let model = ScriptedModel::new([
            LlmError::new(LlmErrorKind::Connection, "the cable is out").into(),
            Reply::text("Here I am."),
        ]);
        let thread = open(&folder.path().join("chat.db"), assistant(model), "chat")
            .await
            .unwrap();
        let mut screen = Vec::new();
        let terminal = Terminal {
            lines: "hello?\nhello?\n".as_bytes().lines(),
            screen: &mut screen,
        };
        chat(thread, terminal).await.unwrap();
        let output = String::from_utf8(screen).unwrap();
        assert!(
            output.contains("the cable is out") && output.contains("Here I am."),
            "{output}"
        );
    }
}
