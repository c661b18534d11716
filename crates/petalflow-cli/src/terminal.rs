//! What the program prints: results to stdout, everything else to stderr. Colors only on a terminal, and not with
//! `NO_COLOR`.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::exit::{Exit, Failure, Result};
pub(crate) use crate::styled::{ERROR, NOTE, STRONG, WARNING, rendered};

/// Whether something was printed to stdout.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether the reader of stdout has ended.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints to stdout. If its reader has ended, nothing is printed and nothing fails: the exit code of the command is its
/// result also then.
pub(crate) fn print(text: impl Display) -> Result<()> {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    if is_closed() {
        return Ok(());
    }
    let mut out = anstream::stdout().lock();
    check_written(write!(out, "{}", rendered(text)).and_then(|()| out.flush()))
}

/// Whether the reader of stdout has ended, so that a command with no other result can end.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// How wide the terminal is to which stdout goes, in columns. `None` if it goes elsewhere.
pub(crate) fn columns() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(usize::from(columns))
}

/// Prints a line to stdout.
pub(crate) fn line(text: impl Display) -> Result<()> {
    print(format_args!("{text}\n"))
}

/// Prints a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string(value).map_err(json_failure)?)
}

/// Prints a value as JSON for people.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    line(pretty(value)?)
}

/// A value as JSON for people.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(json_failure)
}

fn json_failure(error: serde_json::Error) -> Failure {
    Failure::new(
        Exit::Failed,
        format_args!("the result cannot be written as JSON: {error}"),
    )
}

fn check_written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            IS_CLOSED.store(true, Ordering::Relaxed);
            Ok(())
        }
        result => result.map_err(|error| {
            Failure::new(
                Exit::File,
                format_args!("stdout cannot be written: {error}"),
            )
        }),
    }
}

/// Prints a line to stderr. A failure to print is ignored.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{}", rendered(text));
}

/// Prints why the program ends.
pub(crate) fn failure(failure: &Failure) {
    if !failure.message.is_empty() {
        note(format_args!("{ERROR}error:{ERROR:#} {}", failure.message));
    }
    if let Some(hint) = &failure.hint {
        note(format_args!("{NOTE}hint:{NOTE:#} {hint}"));
    }
}

/// Prints why the program ends as a line of JSON, unless what was printed says it.
pub(crate) fn json_failure_line(failure: &Failure) {
    if !failure.message.is_empty() && !HAS_PRINTED.load(Ordering::Relaxed) {
        // The message is on stderr too.
        let _ = json_line(&failure.to_json());
    }
}

/// Whether a person can be asked: the answers come from a terminal, and the questions can be seen.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Prints a question to stderr and reads a line. `None` at the end of the input.
pub(crate) async fn ask(question: impl Display) -> Result<Option<String>> {
    let question = question.to_string();
    print_question(&question);
    let read = read_line().await;
    if !question.is_empty() && io::stdin().is_terminal() && !matches!(read, Ok(Some(_))) {
        // Nobody has ended the line of the question, and what follows begins its own.
        print_question("\n");
    }
    read
}

fn print_question(question: impl Display) {
    let mut out = anstream::stderr().lock();
    let _ = write!(out, "{}", rendered(question)).and_then(|()| out.flush());
}

/// Reads a line of at most 1 MiB from stdin, without blocking the runtime. `None` at the end of the input.
pub(crate) async fn read_line() -> Result<Option<String>> {
    let read = tokio::task::spawn_blocking(|| {
        use std::io::{BufRead as _, Read as _};
        let mut text = String::new();
        let read = io::stdin().lock().take(1 << 20).read_line(&mut text);
        read.map(|bytes| (bytes > 0).then_some(text))
    });
    let line = tokio::select! {
        read = read => read.map_err(io::Error::other).and_then(|it| it),
        _ = tokio::signal::ctrl_c() => return Err(Failure::silent(Exit::Stopped)),
    };
    line.map(|line| line.map(|it| it.trim_end_matches(['\r', '\n']).to_owned()))
        .map_err(|error| Failure::new(Exit::Input, format_args!("stdin cannot be read: {error}")))
}

/// A document for a file: YAML if the name of the file says so, and JSON otherwise.
pub(crate) fn document(file: Option<&Path>, value: &impl Serialize) -> Result<String> {
    if !file.is_some_and(is_yaml) {
        return pretty(value);
    }
    serde_saphyr::to_string(value).map_err(|error| {
        Failure::new(
            Exit::Failed,
            format_args!("the result cannot be written as YAML: {error}"),
        )
    })
}

/// Whether the name of a file ends as those of YAML do.
pub(crate) fn is_yaml(file: &Path) -> bool {
    let extension = file.extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"))
}

/// Writes a result to a file as it is, or to stdout.
pub(crate) fn output(file: Option<&Path>, text: &str) -> Result<()> {
    let ended = text.trim_end_matches('\n');
    match file {
        None => line(ended),
        Some(file) => std::fs::write(file, format!("{ended}\n")).map_err(|error| {
            Failure::new(
                Exit::File,
                format_args!("`{}` cannot be written: {error}", file.display()),
            )
        }),
    }
}
