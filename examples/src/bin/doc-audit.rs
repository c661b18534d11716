//! Audits Markdown documents: `cargo run --bin doc-audit -- --help`.

use std::io::{self, Write};
use std::process::ExitCode;

use futures_util::StreamExt;
use petalflow::EventKind;
use petalflow_examples::doc_audit::args::{self, Command, Format, HELP, Options};
use petalflow_examples::doc_audit::flow::{Audit, DocAudit};
use petalflow_examples::doc_audit::progress::Progress;

/// The exit status when the command line is wrong or something could not be read.
const TROUBLE: u8 = 2;

/// Supersteps beside the rounds: collect, load, and at the end judge and save, with one to spare.
const AROUND: u64 = 5;
/// Supersteps of one round: split, check, judge, fix.
const ROUND: u64 = 4;

#[tokio::main]
async fn main() -> ExitCode {
    let result = match args::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print(HELP).map(|()| 0),
        Ok(Command::Graph) => print(&DocAudit::mermaid()).map(|()| 0),
        Ok(Command::Audit(options)) => audit(options).await,
        Err(error) => Err(format!("{error} (try `--help`)").into()),
    };
    result.map_or_else(
        |error| {
            eprintln!("doc-audit: {error}");
            ExitCode::from(TROUBLE)
        },
        ExitCode::from,
    )
}

async fn audit(options: Options) -> petalflow::Result<u8> {
    let Options { quiet, format, .. } = options;
    let progress = if quiet {
        Progress::hidden()
    } else {
        Progress::on_terminal()
    };
    let report = run(options, &progress).await?.report();
    progress.finish();
    match format {
        Format::Json => print(&format!("{}\n", report.to_json()?))?,
        Format::Text if quiet => print(&report.details())?,
        Format::Text => print(&report.to_string())?,
    }
    Ok(report.exit_status())
}

/// Runs the flow and moves the bar by its events.
async fn run(options: Options, progress: &Progress) -> petalflow::Result<Audit> {
    let limit = AROUND + ROUND * (options.rounds.get() as u64 + 1);
    let run = DocAudit::new()
        .limit(limit)
        .max_concurrency(options.jobs.get())
        .run(options);
    let mut events = run.events();
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::SuperstepStarted { nodes } => progress.start(stage(&nodes[0]), nodes.len()),
            EventKind::NodeFinished { .. } => progress.step(),
            EventKind::Finished { state } => return Ok(state),
            EventKind::Failed { error } => return Err(error.into()),
            _ => {}
        }
    }
    Err("the run ended without a result".into())
}

fn stage(node: &str) -> &'static str {
    match node {
        "collect" => "looking",
        "load" => "reading",
        "split" => "splitting",
        "check_section" => "checking",
        "fix_documents" => "fixing",
        _ => "finishing",
    }
}

/// Prints, and takes it calmly when nobody reads on (`doc-audit | head`).
fn print(text: &str) -> petalflow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
