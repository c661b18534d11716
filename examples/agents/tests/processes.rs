//! The examples as a user runs them, without a key.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program with these arguments and lines, and gives what it printed.
fn run(program: &str, folder: &Path, arguments: &[&str], lines: &str) -> String {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_API_KEY")
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("GEMINI_API_KEY")
        .env_remove("MODEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(lines.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program} {arguments:?} fails");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn the_assistant_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let assistant = |lines: &str| run(env!("CARGO_BIN_EXE_assistant"), folder.path(), &[], lines);
    let said = assistant("remember that I like tulips\nforget everything\n");
    assert!(said.starts_with("model: a script"), "{said}");
    assert!(said.contains("Do it? [y/N]"), "{said}");
    let said = assistant("no\nwhat do you know?\n");
    assert!(said.contains("I know this: I like tulips."), "{said}");
}

#[test]
fn research_prints_its_report_or_writes_it() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let research =
        |arguments: &[&str]| run(env!("CARGO_BIN_EXE_research"), folder.path(), arguments, "");
    let printed = research(&[]);
    assert!(
        printed.starts_with("# What makes flowers open?\n"),
        "{printed}"
    );
    assert_eq!(research(&["--out", "report.md"]), "");
    let written = std::fs::read_to_string(folder.path().join("report.md")).expect("it is written");
    assert_eq!(written, printed);
}

#[test]
fn the_program_in_the_readme_is_this_one_and_runs() {
    let readme = include_str!("../../../README.md");
    let program = include_str!("../src/bin/librarian.rs");
    assert!(
        readme.contains(program),
        "README.md does not have `librarian.rs` as it is: copy it there"
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let said = run(env!("CARGO_BIN_EXE_librarian"), folder.path(), &[], "");
    assert_eq!(said, "The Rose is on shelf 2.\n");
}
