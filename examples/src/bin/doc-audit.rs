//! Checks Markdown documents: `cargo run --bin doc-audit -- --help`.

use std::io::{self, Write};
use std::process::ExitCode;

use petalflow_examples::doc_audit::args::{self, Command, Format, HELP, Options, Storage};
use petalflow_examples::doc_audit::flow::DocAudit;
use petalflow_examples::doc_audit::progress::Progress;
use petalflow_examples::doc_audit::run::run;

/// The exit status if the command line is wrong or a path could not be read.
const FAILURE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let result = match args::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print(HELP).map(|()| 0),
        Ok(Command::Graph) => print(&DocAudit::mermaid()).map(|()| 0),
        Ok(Command::Audit(options, storage)) => audit(options, &storage).await,
        Err(error) => Err(format!("{error} (try `--help`)").into()),
    };
    result.map_or_else(
        |error| {
            eprintln!("doc-audit: {error}");
            ExitCode::from(FAILURE)
        },
        ExitCode::from,
    )
}

async fn audit(options: Options, storage: &Storage) -> petalflow::Result<u8> {
    let Options { quiet, format, .. } = options;
    let progress = if quiet {
        Progress::hidden()
    } else {
        Progress::on_terminal()
    };
    let report = run(options, storage, &progress).await?.report();
    progress.finish();
    match format {
        Format::Json => print(&format!("{}\n", report.to_json()?))?,
        Format::Text if quiet => print(&report.details())?,
        Format::Text => print(&report.to_string())?,
    }
    Ok(report.exit_status())
}

/// Prints. A closed pipe is not an error (`doc-audit | head`).
fn print(text: &str) -> petalflow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
