//! Cargo as users run it: trybuild turns incremental compilation off, and rustc then prints less of some errors.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};

use serde_json::Value;

fn main() -> ExitCode {
    let cargo = env::var_os("PETALFLOW_UI_CARGO").expect("`ui.rs` sets the path of cargo");
    let mut child = Command::new(cargo)
        .args(env::args().skip(1).map(with_width))
        .env("CARGO_INCREMENTAL", "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo can be started");
    pass_on(&mut child).expect("the output of cargo can be read and written");
    let status = child.wait().expect("cargo has been started");
    ExitCode::from(u8::from(!status.success()))
}

/// Passes the output on.
fn pass_on(child: &mut Child) -> io::Result<()> {
    let output = child.stdout.take().expect("it is piped");
    let mut stdout = io::stdout().lock();
    for line in BufReader::new(output).lines() {
        writeln!(stdout, "{}", without_library(line?))?;
    }
    Ok(())
}

/// The line of cargo's output without the notes about places in the standard library: rustc shows their source only where the
/// component `rust-src` is installed.
fn without_library(line: String) -> String {
    if !names_library(&line) {
        return line;
    }
    let Ok(message) = serde_json::from_str::<Value>(&line) else {
        return line;
    };
    let Some(rendered) = message["message"]["rendered"].as_str() else {
        return line;
    };
    let mut shown = String::new();
    let mut part = String::new();
    for line in rendered.lines() {
        if ["note: ", "help: "]
            .iter()
            .any(|begin| line.starts_with(begin))
        {
            shown.extend(own(&mut part));
        }
        part.push_str(line);
        part.push('\n');
    }
    shown.extend(own(&mut part));
    // As a text, because trybuild reads lines that begin with their `reason`.
    let as_json = |text: &str| Value::from(text).to_string();
    line.replacen(&as_json(rendered), &as_json(&shown), 1)
}

/// Takes a part of an error, unless it shows the standard library.
fn own(part: &mut String) -> Option<String> {
    let part = std::mem::take(part);
    let is_note = part.starts_with("note: ") || part.starts_with("help: ");
    (!(is_note && names_library(&part))).then_some(part)
}

/// Whether the text has the path of a source file of the standard library, with and without the component `rust-src`.
fn names_library(text: &str) -> bool {
    text.contains("/rustlib/src/rust/library/") || text.contains("/rustc/")
}

/// Adds the width of messages to the flags of rustc. trybuild passes it for the programs, but not when it checks their
/// dependencies before. With two lists of flags, cargo checks all dependencies twice.
fn with_width(argument: String) -> String {
    match argument.strip_suffix(']') {
        Some(flags) if flags.contains("rustflags=[") && !flags.contains("--diagnostic-width") => {
            format!(r#"{flags}, "--diagnostic-width=140"]"#)
        }
        _ => argument,
    }
}
