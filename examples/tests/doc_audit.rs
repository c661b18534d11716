//! `doc-audit` as a process: killed many times, it has the same result as without a kill.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Documents of which each has a finding that can be fixed and one that cannot.
fn write_documents(folder: &Path) {
    for number in 0..60 {
        let text = format!(
            "# Document {number}\n\n```\nno language\n```\n\n### Skips a level\n\n[dead](nowhere-{number}.md)\n"
        );
        std::fs::write(folder.join(format!("{number}.md")), text).expect("it can be written");
    }
}

fn audit(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doc-audit"));
    command
        .args(args)
        .args(["--format", "json"])
        .current_dir(folder);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn documents(folder: &Path) -> Vec<String> {
    let read = |number| std::fs::read_to_string(folder.join(format!("{number}.md")));
    (0..60)
        .map(|number| read(number).expect("it is there"))
        .collect()
}

#[test]
fn an_audit_that_is_killed_and_resumed_has_the_same_result() {
    let unbroken = tempfile::tempdir().expect("a folder can be made");
    write_documents(unbroken.path());
    let expected = audit(unbroken.path(), &["--fix", "."])
        .output()
        .expect("it runs");
    assert_eq!(
        expected.status.code(),
        Some(1),
        "{}",
        text(&expected.stderr)
    );

    let folder = tempfile::tempdir().expect("a folder can be made");
    write_documents(folder.path());
    let (begin, resume): (&[&str], &[&str]) = (
        &["--store", "audit.db", "--fix", "."],
        &["--store", "audit.db", "--resume"],
    );
    let mut args = begin;
    let mut kills = 0;
    let ended: Output = loop {
        let mut process = audit(folder.path(), args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // Each process runs a bit longer than the one before, so that it is killed at many points.
        std::thread::sleep(Duration::from_millis(3 * kills));
        process.kill().expect("it can be killed, or has ended");
        let output = process.wait_with_output().expect("it ends");
        if output.status.code() == Some(2) && text(&output.stderr).contains("there is no audit") {
            // It was killed before its first checkpoint.
            args = begin;
        } else if output.status.code().is_some() {
            break output;
        } else {
            kills += 1;
            args = resume;
        }
    };
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    assert!(kills > 1, "it was killed {kills} times");
    assert_eq!(
        text(&ended.stdout),
        text(&expected.stdout),
        "after {kills} kills"
    );
    assert_eq!(documents(folder.path()), documents(unbroken.path()));

    // A finished audit prints the same again.
    let again = audit(folder.path(), resume).output().expect("it runs");
    assert_eq!(text(&again.stdout), text(&expected.stdout));
}

#[test]
fn a_resume_needs_a_stored_audit() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let output = audit(folder.path(), &["--store", "audit.db", "--resume"]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "doc-audit: there is no audit in `audit.db` to resume: begin one without `--resume`\n"
    );
    assert!(!folder.path().join("audit.db").exists());
}
