//! The commands.

#[cfg(feature = "acp")]
mod acp;
mod chat;
mod compile;
mod completions;
mod convert;
#[cfg(feature = "serve")]
mod dev;
mod doctor;
mod graph;
mod man;
mod new;
mod options;
mod replay;
mod run;
#[cfg(feature = "serve")]
mod schedule_args;
#[cfg(feature = "client")]
mod schedules;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod site;
#[cfg(feature = "serve")]
mod studio;
mod test;
mod threads;
mod tools;
mod validate;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::environment::Variable;
use crate::exit::Result;
use crate::terminal;

/// Check, draw and run graphs, agent workflows and conversation flows in JSON and YAML.
#[derive(Debug, Parser)]
#[command(name = "petalflow", bin_name = "petalflow", version, propagate_version = true, after_help = AFTER)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  petalflow validate greeting.graph.json
  petalflow run greeting.graph.json --input name=Ann
  petalflow graph research.agent.yaml --format svg -o research.svg

Exit codes:
  0 done   1 the document has errors   2 the run failed   3 a file   4 the input
  5 a model or a tool is missing   6 another kind of document   7 waits for a person
  8 the store or the thread   9 an answer came too late   10 timeout   11 a replay differs
  64 the command line   130 stopped";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a graph or an agent workflow
    Run(run::Args),
    /// Run a document over an exported thread, and show where the two differ
    Replay(replay::Args),
    /// Run the tests of documents: inputs, and what must come out
    Test(test::Args),
    /// Report all that is wrong with documents of any kind
    #[command(visible_alias = "check")]
    Validate(validate::Args),
    /// Make a graph of an agent workflow
    Compile(compile::Args),
    /// Draw a document of any kind
    Graph(graph::Args),
    /// Serve the webhooks of documents over HTTP
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Serve documents with the studio, and load them again when they change
    #[cfg(feature = "serve")]
    Dev(dev::Args),
    /// Open a store on the page of the studio, also that of a program in Rust
    #[cfg(feature = "serve")]
    Studio(studio::Args),
    /// List, show, resume, stop, label, delete, copy and fork stored runs
    Threads(threads::Args),
    /// List, define, change and delete the schedules of a server
    #[cfg(feature = "client")]
    Schedules(schedules::Args),
    /// Say what is there and what is missing: features, the store, keys, and what documents need
    Doctor(doctor::Args),
    /// Write a small project: a graph, a tool and a test
    New(new::Args),
    /// List the types of nodes, or show the settings of one
    Tools(tools::Args),
    /// Talk with a conversation flow
    Chat(chat::Args),
    /// Serve an agent to an editor, over stdin and stdout
    #[cfg(feature = "acp")]
    Acp(acp::Args),
    /// Write a conversation flow in another form
    Convert(convert::Args),
    /// Print the script that completes commands in a shell
    Completions(completions::Args),
    /// Print a page for `man`
    Man(man::Args),
}

impl Cli {
    /// Parses the command line. Also returns the options that a command needs to continue its run.
    pub(crate) fn parse_with_options() -> std::result::Result<(Self, String), clap::Error> {
        // 0 is no limit: an example in a pipe stays one line.
        let columns = terminal::columns().unwrap_or(0);
        let program = Cli::command().term_width(columns);
        let matches = program.clone().try_get_matches()?;
        let options = options::to_continue(&program, &matches);
        Ok((Cli::from_arg_matches(&matches)?, options))
    }

    /// The variables of the environment that options set.
    pub(crate) fn variables(&self) -> &[Variable] {
        match &self.command {
            Command::Run(args) => &args.services.variables,
            Command::Threads(args) => args.variables(),
            Command::Chat(args) => &args.services.variables,
            Command::Replay(args) => &args.services.variables,
            #[cfg(feature = "acp")]
            Command::Acp(args) => &args.services.variables,
            Command::Doctor(args) => &args.services.variables,
            #[cfg(feature = "serve")]
            Command::Serve(args) => &args.services.variables,
            #[cfg(feature = "serve")]
            Command::Dev(args) => &args.services.variables,
            #[cfg(feature = "serve")]
            Command::Studio(args) => &args.services.variables,
            _ => &[],
        }
    }

    /// Whether the command prints JSON for programs.
    pub(crate) fn prints_json(&self) -> bool {
        match &self.command {
            Command::Run(args) => args.prints_json(),
            Command::Validate(args) => args.prints_json(),
            Command::Threads(args) => args.prints_json(),
            #[cfg(feature = "client")]
            Command::Schedules(args) => args.prints_json(),
            Command::Doctor(args) => args.json,
            Command::Tools(args) => args.json,
            Command::Chat(args) => args.json,
            Command::Test(args) => args.json,
            Command::Replay(args) => args.json,
            #[cfg(feature = "serve")]
            Command::Serve(_) | Command::Dev(_) | Command::Studio(_) => false,
            #[cfg(feature = "acp")]
            Command::Acp(_) => false,
            Command::New(_)
            | Command::Compile(_)
            | Command::Graph(_)
            | Command::Convert(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

/// Runs a command. `options` are those that it needs to continue its run.
pub(crate) async fn run(cli: Cli, options: String) -> Result {
    match cli.command {
        Command::Run(args) => Box::pin(run::run(args, &options)).await,
        Command::Test(args) => Box::pin(test::run(args)).await,
        Command::Replay(args) => Box::pin(replay::run(args)).await,
        Command::Validate(args) => validate::run(args),
        Command::Compile(args) => compile::run(args),
        Command::Graph(args) => graph::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => Box::pin(serve::run(args)).await,
        #[cfg(feature = "serve")]
        Command::Dev(args) => Box::pin(dev::run(args)).await,
        #[cfg(feature = "serve")]
        Command::Studio(args) => Box::pin(studio::run(args)).await,
        Command::Threads(args) => Box::pin(threads::run(args, &options)).await,
        #[cfg(feature = "client")]
        Command::Schedules(args) => Box::pin(schedules::run(args)).await,
        Command::Doctor(args) => Box::pin(doctor::run(args)).await,
        Command::New(args) => new::run(&args),
        Command::Tools(args) => tools::run(args),
        Command::Chat(args) => Box::pin(chat::run(args, &options)).await,
        #[cfg(feature = "acp")]
        Command::Acp(args) => Box::pin(acp::run(args)).await,
        Command::Convert(args) => convert::run(args),
        Command::Completions(args) => completions::run(args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    }
}
