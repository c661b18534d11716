//! Writes a small project.

use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure, Result};
use crate::store::shell_quoted;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder of the project, which is created. Its name is that of the graph
    path: PathBuf,
}

const AFTER: &str = "\
Examples:
  petalflow new letters
  petalflow new letters && cd letters && ./test.sh

The project is a graph with a tool and a question to a person, and a test that runs it.";

/// The files, with `NAME` in the place of the name of the project, and whether each is a program.
const FILES: [(&str, &str, bool); 4] = [
    ("NAME.graph.yaml", include_str!("files/graph.yaml"), false),
    ("README.md", include_str!("files/README.md"), false),
    ("count.sh", include_str!("files/count.sh"), true),
    ("test.sh", include_str!("files/test.sh"), true),
];

pub(crate) fn run(args: &Args) -> Result {
    let name = name(&args.path)?;
    if args.path.exists() {
        let text = format_args!("`{}` exists", args.path.display());
        return Err(Failure::new(Exit::File, text).hint("choose another name, or remove it"));
    }
    std::fs::create_dir_all(&args.path).map_err(|error| failed(&args.path, &error))?;
    for (file, text, is_program) in FILES {
        let path = args.path.join(file.replace("NAME", name));
        write(&path, &text.replace("NAME", name), is_program)
            .map_err(|error| failed(&path, &error))?;
        terminal::line(path.display())?;
    }
    let folder = shell_quoted(&args.path.display().to_string());
    terminal::note(format_args!("try it: cd {folder} && ./test.sh"));
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

fn write(path: &Path, text: &str, is_program: bool) -> std::io::Result<()> {
    std::fs::write(path, text)?;
    #[cfg(unix)]
    if is_program {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    #[cfg(not(unix))]
    let _ = is_program;
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let text = format_args!("`{}` cannot be written: {error}", path.display());
    Failure::new(Exit::File, text)
}
