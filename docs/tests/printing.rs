//! Runs each program of the documents that says what it prints, and compares. `cargo test -p petalflow-docs --test printing --
//! tutorial` runs those of one document.

use std::env;
use std::process::{Command, ExitCode};

include!(concat!(env!("OUT_DIR"), "/printing.rs"));

/// A program, and what it prints each time when it runs again in the same folder.
struct Program {
    name: &'static str,
    run: fn() -> ExitCode,
    prints: &'static [&'static str],
}

/// The name of the program that this process is.
const PROGRAM: &str = "PETALFLOW_DOCS_PROGRAM";

fn main() -> ExitCode {
    if let Ok(name) = env::var(PROGRAM) {
        let program = PROGRAMS.iter().find(|program| program.name == name);
        return (program.expect("the name of a program").run)();
    }
    let filters: Vec<String> = env::args()
        .skip(1)
        .filter(|filter| !filter.starts_with('-'))
        .collect();
    let is_chosen =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter));
    let mut ok = true;
    for program in PROGRAMS.iter().filter(|program| is_chosen(program.name)) {
        ok &= check(program);
    }
    if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the program prints what its document says.
fn check(program: &Program) -> bool {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let this = env::current_exe().expect("the path of this program");
    for expected in program.prints {
        let mut command = Command::new(&this);
        // Without a key, programs use scripts in place of models.
        let command = command
            .env_remove("OPENAI_API_KEY")
            .env(PROGRAM, program.name);
        let output = command
            .current_dir(folder.path())
            .output()
            .expect("the program starts");
        let printed = String::from_utf8_lossy(&output.stdout);
        if printed != *expected || !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            println!(
                "{} should print:\n{expected}\nIt prints:\n{printed}{errors}",
                program.name
            );
            return false;
        }
    }
    println!("{} prints what the document says", program.name);
    true
}
