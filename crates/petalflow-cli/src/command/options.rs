//! The options of a command line that the command which continues a run needs too.

use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};

use crate::store::shell_quoted;

/// These are printed from what the run knows: the store may have a password, and answers are used up.
const OTHERWISE: [&str; 6] = ["store", "server", "token", "thread", "answers", "variables"];

/// The given options of a run, a resumed thread or a conversation that the command which continues it has too, with a space
/// before each.
pub(super) fn to_continue(program: &Command, matches: &ArgMatches) -> String {
    let resume = ["threads", "resume"];
    let (given, path): (_, &[&str]) = match matches.subcommand() {
        Some(("run", given)) => (given, &resume),
        Some(("threads", threads)) => match threads.subcommand() {
            Some(("resume", given)) => (given, &resume),
            _ => return String::new(),
        },
        Some(("chat", given)) => (given, &["chat"]),
        _ => return String::new(),
    };
    let command = path
        .iter()
        .try_fold(program, |command, name| command.find_subcommand(name));
    command.map_or_else(String::new, |command| shared(command, given))
}

fn shared(command: &Command, given: &ArgMatches) -> String {
    let mut options = String::new();
    for option in command.get_arguments() {
        let id = option.get_id().as_str();
        let (Some(name), Ok(true)) = (option.get_long(), given.try_contains_id(id)) else {
            continue;
        };
        // The input of a conversation is in its store.
        if OTHERWISE.contains(&id)
            || id == "inputs"
            || given.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        if matches!(option.get_action(), ArgAction::SetTrue) {
            let _ = write!(options, " --{name}");
            continue;
        }
        for value in given.get_raw(id).into_iter().flatten() {
            let value = shell_quoted(&value.to_string_lossy());
            let _ = write!(options, " --{name} {value}");
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::to_continue;
    use crate::command::Cli;

    fn options(line: &str) -> String {
        let program = Cli::command();
        let matches = program.clone().try_get_matches_from(line.split(' '));
        to_continue(&program, &matches.expect("the command line is right"))
    }

    #[test]
    fn all_options_of_a_run_that_resume_has_are_in_the_hint() {
        let line = "petalflow run g.yaml -i n=1 --store runs.db --thread t --script s.json --tool a=./a --tool b=./b \
                    --timeout 1h --concurrency 2 --continue-on-error -q --approve --answer x=y --format text --var out -o r.txt";
        assert_eq!(
            options(line),
            " --approve --script s.json --tool 'a=./a' --tool 'b=./b' --timeout 1h --concurrency 2 --continue-on-error --quiet \
             --format text --var out --output r.txt"
        );
        assert_eq!(
            options("petalflow threads resume t --store runs.db --json"),
            " --json"
        );
        let chat = "petalflow chat c.json -i name=Ann --script s.json --result f={} --store c.db --thread t --json";
        assert_eq!(options(chat), " --script s.json --result 'f={}' --json");
        assert_eq!(options("petalflow validate g.yaml"), "");
    }
}
