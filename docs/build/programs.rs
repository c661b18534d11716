//! The programs of the documents, so that tests run them and compare what they print.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// A program of a document, as a reader copies it.
pub(crate) struct Program {
    /// The document and the line.
    name: String,
    module: String,
    /// The first line of the fence after the language, such as `no_run`.
    options: String,
    code: String,
    /// What it prints when it runs, then when it runs again in the same folder, and so on.
    prints: Vec<String>,
}

/// The programs of a document.
pub(crate) fn programs(document: &Path, text: &str) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    let mut lines = text.lines().enumerate();
    // The last line that is not empty.
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            before = if line.is_empty() { before } else { line };
            continue;
        };
        let mut code = String::new();
        for (_, line) in lines
            .by_ref()
            .take_while(|(_, line)| !line.starts_with("```"))
        {
            code.push_str(line);
            code.push('\n');
        }
        let (language, options) = language.split_once(',').unwrap_or((language, ""));
        if language == "rust" {
            let name = format!("{}:{}", document.display(), number + 1);
            let module = name
                .to_lowercase()
                .replace(|char: char| !char.is_ascii_alphanumeric(), "_");
            let options = options.to_owned();
            let prints = Vec::new();
            programs.push(Program {
                name,
                module,
                options,
                code,
                prints,
            });
        } else if let Some(program) = programs.last_mut().filter(|_| before.ends_with("prints:")) {
            program.prints.push(code);
        }
        before = "";
    }
    programs
}

/// Writes those that say what they print, with a table of them, as a module of a test. A program with `no_run` is one of them:
/// here it has a folder of its own.
pub(crate) fn write_printing(programs: &[Program], out: &Path) -> io::Result<()> {
    let mut modules = String::new();
    let mut table = String::new();
    for program in programs.iter().filter(|program| !program.prints.is_empty()) {
        let Program {
            name,
            module,
            prints,
            ..
        } = program;
        let run = "\npub fn run() -> std::process::ExitCode {\n    std::process::Termination::report(main())\n}\n";
        modules.push_str(&write_module(program, run, out)?);
        let _ = writeln!(
            table,
            "Program {{ name: {name:?}, run: {module}::run, prints: &{prints:?} }},"
        );
    }
    let table = format!("const PROGRAMS: &[Program] = &[{table}];\n");
    fs::write(out.join("printing.rs"), modules + &table)
}

/// Writes those that have tests, as modules of a test, except those with `no_run`.
pub(crate) fn write_testing(programs: &[Program], out: &Path) -> io::Result<()> {
    let mut modules = String::new();
    for program in programs {
        let tests = ["#[test]", "#[tokio::test"];
        let has_tests = tests
            .iter()
            .any(|attribute| program.code.contains(attribute));
        if has_tests && program.options != "no_run" {
            modules.push_str(&write_module(program, "", out)?);
        }
    }
    fs::write(out.join("testing.rs"), modules)
}

fn write_module(program: &Program, end: &str, out: &Path) -> io::Result<String> {
    let Program { module, code, .. } = program;
    let kind = if end.is_empty() {
        "testing"
    } else {
        "printing"
    };
    let file = out.join(format!("{module}-{kind}.rs"));
    fs::write(&file, format!("{code}{end}"))?;
    // The lints of the repository are not those of a reader. A program has parts that only its tests use.
    let lints = "#[allow(dead_code, unused_imports, unreachable_pub, missing_docs, missing_debug_implementations, clippy::all, clippy::pedantic)]";
    Ok(format!(
        "{lints}\n#[path = r\"{}\"]\nmod {module};\n",
        file.display()
    ))
}
