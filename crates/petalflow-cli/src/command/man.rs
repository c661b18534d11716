//! Prints pages for `man`.

use std::path::PathBuf;

use clap::Command;

use crate::exit::{Exit, Failure, Result};
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The command, such as `run` or `threads resume`. The default is the program
    command: Vec<String>,

    /// Write the pages of the program and of all commands into this folder
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    output: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  petalflow man > petalflow.1
  petalflow man threads resume > petalflow-threads-resume.1
  petalflow man -o man1

`man -l petalflow.1` shows a page; `MANPATH` has the folder around `man1`.";

/// Prints the page of this program or of a command of it.
pub(crate) fn run(args: &Args, program: Command) -> Result {
    let mut program = without_help(program);
    program.build();
    if let Some(folder) = &args.output {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(program, folder));
        written.map_err(|error| {
            let folder = folder.display();
            Failure::new(
                Exit::File,
                format_args!("`{folder}` cannot be written: {error}"),
            )
        })?;
        return Ok(Exit::Done);
    }
    let mut command = &program;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                format_args!("there is no command `{}`", args.command.join(" ")),
            )
        })?;
    }
    let mut page = Vec::new();
    // Writing to a list of bytes cannot fail.
    let _ = clap_mangen::Man::new(command.clone()).render(&mut page);
    terminal::print(String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}

/// The program without the commands `help`, whose pages would repeat those of all commands.
fn without_help(program: Command) -> Command {
    program
        .disable_help_subcommand(true)
        .mut_subcommands(without_help)
}
