//! The command line.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use lexopt::{Arg, Parser, ValueExt};
use serde::{Deserialize, Serialize};

/// The text of `--help`.
pub const HELP: &str = "\
Checks Markdown documents for dead links and anchors, skipped heading levels,
code fences without a language, long lines and repeated headings.

Usage: doc-audit [OPTIONS] [PATH]...

PATH is a file or a folder; without one, the current folder is checked.

Options:
      --fix            Fix what can be fixed
      --rounds <N>     Fix and check again at most N times [default: 3]
      --format <F>     text or json [default: text]
      --max-line <N>   Characters that a line of prose may have [default: 120]
      --jobs <N>       Sections to check at once [default: the number of cores]
      --store <FILE>   Store the progress of the audit in this file
      --resume         Resume the audit in the file with its paths and rules
      --graph          Only print the graph of the audit in Mermaid
  -q, --quiet          Print findings only, no progress and no summary
  -h, --help           Print this text

Exit status: 0 without findings, 1 with findings, 2 if a path could not be read or
written, or the command line is wrong.
";

/// The parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Check documents.
    Audit(Options, Storage),
    /// Print the Mermaid graph.
    Graph,
    /// Print [`HELP`].
    Help,
}

/// Where the progress of an audit is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere.
    None,
    /// In this file, which a new audit begins.
    Begin(PathBuf),
    /// In this file, whose audit is resumed.
    Resume(PathBuf),
}

/// The options of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Files and folders, at least one.
    pub paths: Vec<PathBuf>,
    /// Whether to write fixed documents back.
    pub fix: bool,
    /// The most rounds of fixing.
    pub rounds: NonZeroUsize,
    /// How to print the report.
    pub format: Format,
    /// The most characters in a line of prose.
    pub max_line: NonZeroUsize,
    /// The most sections to check at once.
    pub jobs: NonZeroUsize,
    /// Whether to print findings only.
    pub quiet: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            paths: vec![PathBuf::from(".")],
            fix: false,
            rounds: const { NonZeroUsize::new(3).unwrap() },
            format: Format::Text,
            max_line: const { NonZeroUsize::new(120).unwrap() },
            jobs: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            quiet: false,
        }
    }
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Parses the arguments, without the name of the program.
///
/// # Errors
///
/// If an option is unknown, a value is invalid, or options contradict each other. The program then exits with status 2.
pub fn parse(
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> Result<Command, lexopt::Error> {
    let mut options = Options::default();
    let mut paths = Vec::new();
    let (mut graph, mut store, mut resume) = (false, None, false);
    let mut parser = Parser::from_args(args.into_iter().map(Into::into));
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(path) => paths.push(PathBuf::from(path)),
            Arg::Long("fix") => options.fix = true,
            Arg::Long("rounds") => options.rounds = parser.value()?.parse()?,
            Arg::Long("format") => options.format = parser.value()?.parse_with(format)?,
            Arg::Long("max-line") => options.max_line = parser.value()?.parse()?,
            Arg::Long("jobs") => options.jobs = parser.value()?.parse()?,
            Arg::Long("store") => store = Some(PathBuf::from(parser.value()?)),
            Arg::Long("resume") => resume = true,
            Arg::Long("graph") => graph = true,
            Arg::Long("quiet") | Arg::Short('q') => options.quiet = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            _ => return Err(arg.unexpected()),
        }
    }
    if graph {
        return Ok(Command::Graph);
    }
    let allowed = Options {
        format: options.format,
        jobs: options.jobs,
        quiet: options.quiet,
        ..Options::default()
    };
    if resume && (!paths.is_empty() || options != allowed) {
        return Err("`--resume` uses the paths and rules of the stored audit: omit all options except `--format`, `--jobs` and `--quiet`".into());
    }
    if !paths.is_empty() {
        options.paths = paths;
    }
    let storage = match (store, resume) {
        (None, false) => Storage::None,
        (Some(file), false) => Storage::Begin(file),
        (Some(file), true) => Storage::Resume(file),
        (None, true) => {
            return Err(
                "`--resume` needs the file of the stored audit: add `--store <FILE>`".into(),
            );
        }
    };
    Ok(Command::Audit(options, storage))
}

fn format(name: &str) -> Result<Format, &'static str> {
    match name {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("expected `text` or `json`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &str) -> Options {
        match parse(args.split_whitespace()) {
            Ok(Command::Audit(options, Storage::None)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults() {
        let options = options("");
        assert_eq!(options, Options::default());
        assert_eq!((options.rounds.get(), options.max_line.get()), (3, 120));
    }

    #[test]
    fn all_options() {
        let options =
            options("a.md --fix --rounds=2 --format json --max-line 80 --jobs 1 -q -- --docs");
        assert_eq!(
            options.paths,
            [PathBuf::from("a.md"), PathBuf::from("--docs")]
        );
        assert!(options.fix && options.quiet);
        assert_eq!(options.format, Format::Json);
        assert_eq!(
            (
                options.rounds.get(),
                options.max_line.get(),
                options.jobs.get()
            ),
            (2, 80, 1)
        );
    }

    #[test]
    fn other_commands() {
        assert_eq!(parse(["--graph"]).unwrap(), Command::Graph);
        assert_eq!(
            parse(["--nothing", "--help"]).map_err(|error| error.to_string()),
            Err("invalid option '--nothing'".into())
        );
        assert_eq!(parse(["a.md", "-h"]).unwrap(), Command::Help);
        for option in [
            "--fix",
            "--rounds",
            "--format",
            "--max-line",
            "--jobs",
            "--store",
            "--resume",
            "--graph",
            "--quiet",
            "--help",
        ] {
            assert!(HELP.contains(option), "{option}");
        }
    }

    #[test]
    fn an_audit_is_stored_on_request() {
        let storage = |args: &str| match parse(args.split_whitespace()) {
            Ok(Command::Audit(_, storage)) => Ok(storage),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        };
        let file = || PathBuf::from("a.db");
        assert_eq!(storage("--store a.db docs"), Ok(Storage::Begin(file())));
        assert_eq!(
            storage("--resume --store a.db -q --jobs 2"),
            Ok(Storage::Resume(file()))
        );
        assert!(
            storage("--resume")
                .unwrap_err()
                .contains("add `--store <FILE>`")
        );
        for changed in ["docs", "--fix", "--rounds 2", "--max-line 80"] {
            let error = storage(&format!("--resume --store a.db {changed}")).unwrap_err();
            assert!(error.contains("omit all options"), "{changed}: {error}");
        }
    }

    #[test]
    fn wrong_values_are_named() {
        for args in [
            "--rounds 0",
            "--jobs x",
            "--max-line",
            "--format xml",
            "--fix=yes",
            "-x",
        ] {
            assert!(parse(args.split_whitespace()).is_err(), "{args}");
        }
        let error = parse(["--format", "xml"]).unwrap_err().to_string();
        assert!(
            error.contains("xml") && error.contains("expected `text` or `json`"),
            "{error}"
        );
    }
}
