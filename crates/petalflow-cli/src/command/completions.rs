//! Completes commands in a shell.

use clap_complete::{Shell, generate};

use crate::exit::{Exit, Result};
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const AFTER: &str = "\
Examples:
  petalflow completions bash > ~/.local/share/bash-completion/completions/petalflow
  petalflow completions zsh > ~/.zfunc/_petalflow
  petalflow completions fish > ~/.config/fish/completions/petalflow.fish";

/// Prints the script for this program.
pub(crate) fn run(args: Args, mut program: clap::Command) -> Result {
    let mut script = Vec::new();
    generate(args.shell, &mut program, "petalflow", &mut script);
    terminal::print(String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
