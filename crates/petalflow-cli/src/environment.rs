//! Variables of the environment that options set.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode};
use std::str::FromStr;

use crate::exit::{Exit, Failure};

/// The name of the option.
const OPTION: &str = "--env";

/// A variable: `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    name: String,
    value: String,
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !text.contains('\0') => Ok(Variable {
                name: name.into(),
                value: value.into(),
            }),
            _ => Err("write `NAME=VALUE`".into()),
        }
    }
}

/// Runs the program again, with these variables and without the options that set them. A process does not change its own
/// environment, which other threads may read at the same time.
pub(crate) fn run_again(
    variables: &[Variable],
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<ExitCode, Failure> {
    let failed = |error: std::io::Error| {
        let text = format_args!("the program cannot be started with `{OPTION}`: {error}");
        Failure::new(Exit::Failed, text)
    };
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    let variables = variables.iter();
    command
        .args(without_option(arguments))
        .envs(variables.map(|variable| (&variable.name, &variable.value)));
    #[cfg(unix)]
    {
        // Only returns if it fails.
        Err(failed(std::os::unix::process::CommandExt::exec(
            &mut command,
        )))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(Exit::Failed as u8)))
    }
}

/// The arguments without the option and its values. They were read before, so each option has a value.
fn without_option(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut kept, mut arguments) = (Vec::new(), arguments.into_iter());
    while let Some(argument) = arguments.next() {
        if argument == OsStr::new("--") {
            kept.push(argument);
            kept.extend(arguments);
            break;
        }
        if argument == OsStr::new(OPTION) {
            arguments.next();
        } else if !argument.to_string_lossy().starts_with("--env=") {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_option;

    #[test]
    fn f45_only_the_option_and_its_values_are_left_out() {
        let line = "run --env A=1 g.yaml --env=B=2 --envelope e.json -- --env C=3";
        let kept = without_option(line.split(' ').map(Into::into));
        let expected = "run g.yaml --envelope e.json -- --env C=3";
        assert_eq!(kept, expected.split(' ').collect::<Vec<_>>());
    }
}
