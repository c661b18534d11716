//! A coding agent with a shell: `cargo run --bin port_coder -- --folder PROJECT "Make the tests pass."`
//!
//! It asks before it runs commands: Enter runs them, another text is the reason against it, `/y` runs all commands from now on,
//! and `/u COMMAND` runs one for you. Ctrl-C interrupts the model. The conversation is in `mini.db`: called again, the program
//! continues where it was. It needs a model: see [`model`].

use std::io::{BufRead, Write};
use std::time::Duration;

use petalflow_llm::usage::Prices;
use petalflow_port_examples::coder::{Coder, Mode, Progress, Settings, Workplace};
use petalflow_port_examples::model;
use petalflow_sqlite::SqliteStore;

const USAGE: &str =
    "usage: port_coder [--yolo] [--exit] [--steps N] [--folder FOLDER] [--db FILE] TASK";

/// Reads a line. None at the end of the input.
fn ask(question: &str) -> petalflow::Result<Option<String>> {
    print!("{question} > ");
    std::io::stdout().flush()?;
    let line = std::io::stdin().lock().lines().next().transpose()?;
    Ok(line.map(|line| line.trim().to_string()))
}

/// What happens next.
enum Next {
    Work,
    Decide(Option<String>),
    Say(String),
}

async fn perform(
    coder: &Coder<SqliteStore>,
    task: &str,
    next: &Next,
) -> petalflow::Result<Progress> {
    match next {
        Next::Work => coder.work(task).await,
        Next::Decide(refused) => coder.decide(refused.as_deref()).await,
        Next::Say(text) => coder.say(text).await,
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let (mut task, mut file, mut exits) = (None, "mini.db".to_string(), false);
    let mut settings = Settings {
        mode: Mode::Confirm,
        allowed: Vec::new(),
        steps: None,
        cost: None,
        prices: Prices::new(),
        time: None,
        workplace: Workplace {
            folder: ".".into(),
            longest: Duration::from_secs(30),
        },
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("yolo") => settings.mode = Mode::Yolo,
            Long("exit") => exits = true,
            Long("steps") => settings.steps = Some(parser.value()?.parse()?),
            Long("folder") => settings.workplace.folder = parser.value()?.into(),
            Long("db") => file = parser.value()?.string()?,
            Value(words) => task = Some(words.string()?),
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    let task = task.ok_or(USAGE)?;
    let mut coder = Coder {
        model: model::from_environment()?,
        store: SqliteStore::open(&file).await?,
        settings,
    };
    let mut next = Next::Work;
    loop {
        let progress = tokio::select! {
            progress = perform(&coder, &task, &next) => progress?,
            _ = tokio::signal::ctrl_c() => {
                let comment = ask("Interrupted. What should the model know?")?.unwrap_or_default();
                next = Next::Say(format!("Interrupted by the user: {comment}"));
                continue;
            }
        };
        next = match progress {
            Progress::Waits(commands) => {
                println!("{}", commands.join("\n"));
                match ask("Run it?")?.as_deref() {
                    None => return Ok(()),
                    Some("") => Next::Decide(None),
                    Some("/y") => {
                        coder.settings.mode = Mode::Yolo;
                        Next::Decide(None)
                    }
                    Some(text) => match text.strip_prefix("/u ") {
                        Some(command) => {
                            println!("{}", coder.run_for_person(command).await?);
                            Next::Decide(Some("I have run another command.".into()))
                        }
                        None => Next::Decide(Some(text.into())),
                    },
                }
            }
            Progress::Submitted(text) if exits => {
                println!("{text}");
                return Ok(());
            }
            Progress::Submitted(text) => {
                println!("{text}");
                match ask("A new task, or Enter to end")?.filter(|task| !task.is_empty()) {
                    Some(task) => Next::Say(task),
                    None => return Ok(()),
                }
            }
            Progress::NoCommand => return Err("the model does not call its tool".into()),
        };
    }
}
