//! The command line of petalflow: the program `petalflow`.
//!
//! It checks, draws, compiles and runs documents: graphs and agent workflows in PetalFlow's formats, and conversation
//! flows in Pipecat's. No Rust is needed for them. What a document cannot contain comes from options: models from
//! `--model` or `--script`, tools and functions from `--tool NAME=COMMAND`.
//!
//! ```sh
//! cargo install petalflow-cli
//! petalflow validate greeting.graph.json
//! petalflow run greeting.graph.json --input name=Ann
//! petalflow graph greeting.graph.json --format svg -o greeting.svg
//! ```
//!
//! | command | what it does |
//! | --- | --- |
//! | `run` | runs a graph or an agent workflow, with `--store` as a thread that survives the process |
//! | `test` | runs the tests of documents: files with inputs and what must come out |
//! | `validate` | reports all that is wrong with documents, with code, file, line and column |
//! | `compile` | makes a graph of an agent workflow |
//! | `replay` | runs a document over an exported thread, and shows where the two differ |
//! | `graph` | draws a document as Mermaid, DOT or SVG |
//! | `serve` | serves webhooks over HTTP: each request starts a run |
//! | `dev` | serves documents with the studio, and loads them again when they change |
//! | `studio` | opens a store on the page of the studio, also that of a program in Rust |
//! | `threads` | lists, shows, follows, resumes, stops, labels, deletes, prunes, copies, forks, exports, imports and verifies stored runs, in a store or on a server |
//! | `schedules` | lists, defines, changes and deletes the schedules of a server |
//! | `doctor` | says what is there and what is missing |
//! | `new` | writes a small project |
//! | `tools` | lists the types of nodes and their settings |
//! | `chat` | talks with a conversation flow in the terminal |
//! | `acp` | serves an agent of a document to an editor |
//! | `convert` | writes a conversation flow in another form |
//! | `completions` | completes commands in a shell |
//! | `man` | prints a page for `man`, of the program or of a command |
//!
//! `petalflow COMMAND --help` has the options and examples. Results are on stdout, everything else is on stderr. With
//! `--json`, results are JSON for programs. If such a command fails before it has printed anything, its only line is
//! `{"event": "error", "error": .., "exit": .., "hint": .., "diagnostics": [..]}`; the last two fields may be absent.
//!
//! Control characters and bidirectional ones of values are printed as `\u001b`, so that a value cannot command the
//! terminal. `--output FILE` writes them as they are.
//!
//! # Exit codes
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | success |
//! | 1 | a document has errors, or with `--strict` warnings |
//! | 2 | the run failed |
//! | 3 | a file cannot be read or written |
//! | 4 | the input, a script or an answer is wrong |
//! | 5 | something that the document needs is missing: a model, a tool, a function |
//! | 6 | the document is of another kind than the command needs |
//! | 7 | the run waits for the answer of a person |
//! | 8 | the store or the thread cannot be used |
//! | 9 | no question needed an answer of `threads resume`: it came too late |
//! | 10 | the run took too long |
//! | 11 | the replay of a thread differs from what was recorded |
//! | 64 | the command line itself is wrong |
//! | 130 | the run was stopped with Ctrl-C |
//!
//! The codes up to 6 and 10 are those of PetalFlow's program, except for the command line itself.
//!
//! # Features
//!
//! `sqlite` (default), `postgres` and `redis` are stores. `serve` (default) has the commands `serve`, `dev` and `studio`.
//! `client` (default) has the option `--server` and the command `schedules`.
//! `providers` has models of providers, over HTTP, and `bedrock` those of Amazon Bedrock too. `http` has nodes that call
//! webhooks. `full` is all of them.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
#[cfg(feature = "serve")]
mod changes;
mod command;
mod diagnostics;
mod document;
mod drive;
mod envelope;
mod environment;
mod events;
mod exit;
mod handlers;
mod load;
mod node_limit;
mod place;
mod program_tool;
mod script;
mod services;
mod stop;
mod store;
mod styled;
mod terminal;
mod thread_file;
#[cfg(feature = "providers")]
mod token_command;
mod words;

use std::process::ExitCode;

use clap::error::ErrorKind;

use exit::Exit;

/// Runs the program with the arguments and the environment of the process, and returns its exit code.
///
/// # Cancel safety
///
/// It handles Ctrl-C. A stored run ends after its current nodes, and can be resumed.
pub fn main() -> ExitCode {
    let (cli, resumed) = match command::Cli::parse_with_options() {
        Ok(parsed) => parsed,
        Err(error) => {
            // The help is best effort: a closed pipe is not an error.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done.into(),
                _ => Exit::Usage.into(),
            };
        }
    };
    let prints_json = cli.prints_json();
    if !cli.variables().is_empty() {
        return match environment::run_again(cli.variables(), std::env::args_os().skip(1)) {
            Ok(code) => code,
            Err(failure) => failed(&failure, prints_json),
        };
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::note(format_args!(
                "error: the runtime cannot be started: {error}"
            ));
            return Exit::Failed.into();
        }
    };
    let result = runtime.block_on(async {
        let result = command::run(cli, resumed).await;
        #[cfg(feature = "redis")]
        store::flush_releases().await;
        result
    });
    // Do not wait for an OS thread that still reads stdin.
    runtime.shutdown_background();
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => failed(&failure, prints_json),
    }
}

/// Prints why the program ends, and returns its exit code.
fn failed(failure: &exit::Failure, prints_json: bool) -> ExitCode {
    terminal::failure(failure);
    if prints_json {
        terminal::json_failure_line(failure);
    }
    failure.exit.into()
}
