//! The command line.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use lexopt::{Arg, Parser, ValueExt};
use serde::{Deserialize, Serialize};

/// What `--help` prints.
pub const HELP: &str = "\
Checks Markdown documents for dead links and anchors, skipped heading levels,
code fences without a language, long lines and repeated headings.

Usage: doc-audit [OPTIONS] [PATH]...

PATH is a file or a folder; without one, the current folder is checked.

Options:
      --fix            Put right what can be put right
      --rounds <N>     Fix and check again at most N times [default: 3]
      --format <F>     text or json [default: text]
      --max-line <N>   Characters that a line of prose may have [default: 120]
      --jobs <N>       Sections to check at once [default: the number of cores]
      --store <FILE>   Remember in this file how far the audit has come
      --resume         Go on with the audit in the file, as it was begun
      --graph          Print the graph of the audit in Mermaid, and do nothing else
  -q, --quiet          Neither progress nor summary; findings only
  -h, --help           Print this

Exit status: 0 if nothing is left to do, 1 if something is, 2 if a path could not
be read or written, or the command line is wrong.
";

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Check documents.
    Audit(Options, Memory),
    /// Print the Mermaid graph.
    Graph,
    /// Print [`HELP`].
    Help,
}

/// Whether an audit outlives its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// It does not.
    None,
    /// It begins anew, and is written down in this file.
    Begin(PathBuf),
    /// It is the one in this file that goes on.
    Resume(PathBuf),
}

/// How to check.
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

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Reads the arguments, without the program's name.
///
/// # Errors
///
/// If there is an option that does not exist, a value that it cannot have, or options that make no sense together. The program
/// then exits with status 2.
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
    let as_begun = Options {
        format: options.format,
        jobs: options.jobs,
        quiet: options.quiet,
        ..Options::default()
    };
    if resume && (!paths.is_empty() || options != as_begun) {
        return Err("`--resume` goes on with the paths and rules that the audit was begun with: leave them out, but for `--format`, `--jobs` and `--quiet`".into());
    }
    if !paths.is_empty() {
        options.paths = paths;
    }
    let memory = match (store, resume) {
        (None, false) => Memory::None,
        (Some(file), false) => Memory::Begin(file),
        (Some(file), true) => Memory::Resume(file),
        (None, true) => {
            return Err(
                "`--resume` needs to know where the audit was written down: add `--store <FILE>`"
                    .into(),
            );
        }
    };
    Ok(Command::Audit(options, memory))
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
            Ok(Command::Audit(options, Memory::None)) => options,
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
    fn an_audit_is_remembered_on_request() {
        let memory = |args: &str| match parse(args.split_whitespace()) {
            Ok(Command::Audit(_, memory)) => Ok(memory),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        };
        let file = || PathBuf::from("a.db");
        assert_eq!(memory("--store a.db docs"), Ok(Memory::Begin(file())));
        assert_eq!(
            memory("--resume --store a.db -q --jobs 2"),
            Ok(Memory::Resume(file()))
        );
        assert!(
            memory("--resume")
                .unwrap_err()
                .contains("add `--store <FILE>`")
        );
        for changed in ["docs", "--fix", "--rounds 2", "--max-line 80"] {
            let error = memory(&format!("--resume --store a.db {changed}")).unwrap_err();
            assert!(error.contains("leave them out"), "{changed}: {error}");
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
