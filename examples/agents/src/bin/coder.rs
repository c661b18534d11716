//! A coding agent in the terminal: `cargo run --bin coder -- --folder PROJECT --check "cargo test" "Make the tests pass."`
//!
//! The agent reads and edits the files of a folder, keeps a plan, and runs commands. The command of `--check` runs without a
//! question; a person decides about each other one. The conversation is in one SQLite file: the program can be stopped, or
//! killed, at any time. Called again, it continues where it was.
//!
//! Without a model (see the crate's `choose`) a script mends a small project, which is made if its folder does not exist.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Outcome, Thread};
use petalflow_agent::deep::{DeepAgent, Plan, Workspace};
use petalflow_agent::extension::{Approval, Approvals, ToolStep};
use petalflow_agent::{Agent, AgentFlow, Conversation, ConversationInput, Limits, Pending};
use petalflow_agent_examples::choose;
use petalflow_llm::{LlmClient, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde::Serialize;
use serde_json::json;

const LONGEST_COMMAND: Duration = Duration::from_mins(10);

/// The folder in which commands run.
struct Project(PathBuf);

/// What a command has done.
#[derive(Debug, Serialize)]
struct Ran {
    /// None if a signal has ended it.
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a command of `sh` in the project's folder, for ten minutes at most.
#[tool]
async fn run(
    /// The command, such as `cargo test`.
    command: String,
    project: Managed<Project>,
) -> petalflow::Result<Ran> {
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &command]).current_dir(&project.0);
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST_COMMAND, shell.output())
        .await
        .map_err(|_| {
            format!("`{command}` took longer than {LONGEST_COMMAND:?} and was stopped")
        })??;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ran {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

/// Lets the agent run one command, and asks a person about all others.
struct Commands {
    check: String,
}

impl Approvals for Commands {
    fn decide(&self, step: &ToolStep<'_>) -> Option<Approval> {
        let command = step.arguments["command"].as_str()?;
        Some(if command == self.check {
            Approval::Allow
        } else {
            Approval::Ask(format!("Run `{command}`?"))
        })
    }
}

fn coder(model: impl LlmClient, folder: &Path, check: &str) -> petalflow::Result<Agent> {
    Ok(DeepAgent::new(model)
        .workspace(Workspace::folder(folder)?)
        .tools(tools![run])
        .build()
        .name("coder")
        .instructions(format!(
            "You change a program. Read before you edit, change as little as possible, and prefer `edit_file` to \
             `write_file`. `{check}` says whether the program is right: run it before and after your changes."
        ))
        .approvals(Commands {
            check: check.into(),
        })
        .turn_limits(Limits::new().requests(200)))
}

/// Mends the small project. The number of answers in the conversation says what is next.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let answers = request.messages.iter();
        let answers = answers.filter(|message| message.role == Role::Assistant);
        let plan = |state: &str| {
            let item = json!({ "text": "mend total.sh", "state": state });
            Reply::call("write_plan", json!({ "items": [item] }))
        };
        match answers.count() {
            0 => plan("active"),
            1 | 4 => Reply::call("run", json!({ "command": CHECK })),
            2 => Reply::call("read_file", json!({ "path": "total.sh" })),
            3 => Reply::call(
                "edit_file",
                json!({ "path": "total.sh", "old": "$1 + $2", "new": "$1 * $2" }),
            ),
            5 => Reply::call("run", json!({ "command": "cp total.sh total.old" })),
            6 => plan("done"),
            _ => Reply::text("total.sh multiplies now, and the check passes."),
        }
    })
}

const CHECK: &str = "sh check.sh";

/// A program with a mistake, and its check.
fn make_small_project(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("total.sh"), "echo $(($1 + $2))\n")?;
    std::fs::write(
        folder.join("check.sh"),
        "[ \"$(sh total.sh 3 4)\" = 12 ] || { echo 'three for 4 each cost 12' >&2; exit 1; }\n",
    )
}

/// Asks a person about each call that waits. None if the input has ended: the questions stay open.
fn decide(
    talk: &Conversation,
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> std::io::Result<Option<ConversationInput>> {
    let mut decisions = ConversationInput::default();
    for waiting in talk.pending() {
        let Pending::Confirmation { id, hint, .. } = waiting else {
            continue;
        };
        print!("{hint} [y/N] ");
        std::io::stdout().flush()?;
        let Some(line) = lines.next().transpose()? else {
            println!();
            return Ok(None);
        };
        let yes = matches!(line.trim(), "y" | "Y" | "yes");
        decisions = decisions.confirm(id, yes);
    }
    Ok(Some(decisions))
}

/// Continues what another process has begun. If there is nothing, it does the task.
async fn work(
    thread: &Thread<AgentFlow>,
    task: String,
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> petalflow::Result<()> {
    let outcome = match thread.snapshot().await? {
        Some(known) if !known.is_finished() => thread.resume(()).await?,
        Some(known) if !known.state.pending().is_empty() => Outcome::Finished(known.state),
        _ => thread.run(task).await?,
    };
    let mut talk = outcome.into_finished()?;
    while !talk.pending().is_empty() {
        let Some(decisions) = decide(&talk, lines)? else {
            println!("It waits for your decision: call it again.");
            return Ok(());
        };
        talk = thread.run(decisions).await?.into_finished()?;
    }
    println!("{}\n\n{}", Plan::of(&talk), talk.answer());
    Ok(())
}

const USAGE: &str = "usage: coder [--folder FOLDER] [--check COMMAND] [--db FILE] [TASK]";

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let (mut folder, mut file) = (PathBuf::from("project"), PathBuf::from("coder.db"));
    let (mut check, mut task) = (CHECK.to_string(), "Make the check pass.".to_string());
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("folder") => folder = parser.value()?.into(),
            Long("db") => file = parser.value()?.into(),
            Long("check") => check = parser.value()?.string()?,
            Value(words) => task = words.string()?,
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    if !folder.exists() {
        make_small_project(&folder)?;
    }
    let choice = choose(script())?;
    println!("{}", choice.description);
    let store = SqliteStore::open(&file).await?;
    let launch = coder(choice.model, &folder, &check)?.launch();
    // The run before this one may still release the thread.
    let threads = launch
        .manage(Project(folder))
        .store(&store)
        .on_busy(OnBusy::Queue);
    let mut lines = std::io::stdin().lock().lines();
    work(&threads.thread("work"), task, &mut lines).await
}
