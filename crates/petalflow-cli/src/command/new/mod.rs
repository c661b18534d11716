//! Writes a small project.

mod package;
mod template;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use self::template::{File, Template};
use crate::exit::{Exit, Failure, Result};
use crate::store::shell_quoted;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder of the project, which is created. Its name is that of the graph or of the package
    path: PathBuf,

    /// What the project is
    #[arg(long, value_enum, default_value_t = Template::Graph)]
    template: Template,

    /// For projects in Rust: take the crates of petalflow from this clone of its repository, in place of the published ones
    #[arg(long, value_name = "FOLDER")]
    source: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  petalflow new letters
  petalflow new letters && cd letters && ./test.sh
  petalflow new my-agent --template rust-agent

The project has a README with the commands that run it, and tests.";

pub(crate) fn run(args: &Args) -> Result {
    let name = args.template.check_name(name(&args.path)?)?;
    let patches = match &args.source {
        Some(clone) => args.template.patches(clone)?,
        None => String::new(),
    };
    let files = args.template.files(name, &patches);
    create_folder(&args.path)?;
    if let Err(failure) = write_all(&args.path, &files) {
        // Otherwise the next try would be told that the folder exists.
        let _ = std::fs::remove_dir_all(&args.path);
        return Err(failure);
    }
    for file in &files {
        terminal::line(args.path.join(&file.path).display())?;
    }
    terminal::note("try it:");
    let folder = shell_quoted(&args.path.display().to_string());
    terminal::note(format_args!("  cd {folder}"));
    for command in args.template.commands() {
        terminal::note(format_args!("  {command}"));
    }
    Ok(Exit::Done)
}

/// The name of the project: a word, because files and the graph have it.
fn name(path: &Path) -> Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.filter(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part)
    })
    .ok_or_else(|| {
        let text = format_args!("`{}` is no name for a project", path.display());
        Failure::new(Exit::Usage, text)
            .hint("use letters, digits, `-` and `_`, and begin with a letter")
    })
}

/// Creates the folder, and those above it. It must not exist.
fn create_folder(path: &Path) -> Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(|error| failed(above, &error))?;
    }
    std::fs::create_dir(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let text = format_args!("`{}` exists", path.display());
            Failure::new(Exit::File, text).hint("choose another name, or remove it")
        }
        _ => failed(path, &error),
    })
}

fn write_all(folder: &Path, files: &[File]) -> Result<()> {
    files.iter().try_for_each(|file| {
        let path = folder.join(&file.path);
        write(&path, file).map_err(|error| failed(&path, &error))
    })
}

fn write(path: &Path, file: &File) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, &file.text)?;
    #[cfg(unix)]
    if file.is_program {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let text = format_args!("`{}` cannot be written: {error}", path.display());
    let failure = Failure::new(Exit::File, text);
    match error.kind() {
        ErrorKind::PermissionDenied => {
            failure.hint("choose a folder in which you may write, such as one in your home folder")
        }
        _ => failure,
    }
}
