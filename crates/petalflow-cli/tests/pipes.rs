//! Readers that end early: a command goes on to its end, and its exit code says the result.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::program::{document, file, folder, path, petalflow, program, words};

/// Runs the program, reads some lines of its output, and closes the pipe. Returns the exit code and the lines that were read.
fn closed_after(lines: usize, line: &str, input: &str) -> (Option<i32>, usize) {
    let mut child = program()
        .args(words(line))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that has ended reads nothing.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut read = 0;
    let mut text = String::new();
    while read < lines && out.read_line(&mut text).expect("it can be read") > 0 {
        read += 1;
    }
    drop(out);
    (child.wait().expect("it ends").code(), read)
}

/// Closes the pipe after each line of the output, and calls `check` after each end.
fn at_every_line(line: impl Fn(usize) -> String, input: &str, code: i32, check: impl Fn(usize)) {
    for lines in 0.. {
        let (ended, read) = closed_after(lines, &line(lines), input);
        assert_eq!(
            ended,
            Some(code),
            "closed after {lines} lines: {}",
            line(lines)
        );
        check(lines);
        if read < lines {
            break;
        }
    }
}

#[test]
fn f45_a_pipe_that_closes_at_any_line_does_not_stop_a_run() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let greeting = document("greeting.graph.json");
    at_every_line(
        |lines| format!("run {greeting} -i name=Ann --store {store} --thread r{lines} --json"),
        "",
        0,
        |lines| {
            let shown = petalflow!("threads show r{lines} --store {store} --json").code(0);
            assert_eq!(shown.json()["status"], "finished", "{lines}");
        },
    );
    let review = document("review.graph.yaml");
    at_every_line(
        |lines| format!("run {review} -i name=Ann --store {store} --thread w{lines} --json"),
        "",
        7,
        |lines| {
            let shown = petalflow!("threads show w{lines} --store {store} --json").code(0);
            assert_eq!(shown.json()["status"], "waiting", "{lines}");
        },
    );
    at_every_line(
        |lines| format!("threads resume w{lines} --store {store} --answer approve --json"),
        "",
        0,
        |lines| {
            if lines == 0 {
                let shown = petalflow!("threads show w0 --store {store} --json").code(0);
                assert_eq!(shown.json()["status"], "finished");
            }
        },
    );
}

#[test]
fn f45_a_pipe_that_closes_does_not_stop_a_conversation() {
    let folder = folder();
    let store = path(&folder, "chats.db");
    let replies = file(
        &folder,
        "replies.json",
        r#"["What would you like?", "Sorry?", "Bye."]"#,
    );
    let order = file(
        &folder,
        "order.json",
        r#"{ "initial_node": "start", "nodes": { "start": {
            "task_messages": [{ "role": "developer", "content": "Ask." }], "functions": [] } } }"#,
    );
    at_every_line(
        |lines| format!("chat {order} --script {replies} --store {store} --thread c{lines} --json"),
        "soup\nmore\n",
        0,
        |lines| {
            let shown = petalflow!("threads show c{lines} --store {store} --json").code(0);
            let shown = shown.json();
            assert_eq!(shown["status"], "finished", "{lines}: {shown}");
            let messages = shown["messages"].to_string();
            assert!(messages.contains("Bye."), "{lines}: {messages}");
        },
    );
}

#[test]
fn f45_a_command_for_many_threads_goes_on_when_nobody_reads() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let greeting = document("greeting.graph.json");
    for thread in ["a", "b", "c"] {
        petalflow!("run {greeting} -i name=Ann --store {store} --thread {thread}").code(0);
    }
    let (code, _) = closed_after(
        1,
        &format!("threads delete --all --yes --store {store}"),
        "",
    );
    assert_eq!(code, Some(0));
    let listed = petalflow!("threads list --store {store}").code(0);
    assert_eq!(listed.out, "");
}

#[test]
fn f45_what_only_prints_ends_without_an_error() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let review = document("review.graph.yaml");
    for thread in ["a", "b"] {
        petalflow!("run {review} -i name=Ann --store {store} --thread {thread}").code(7);
    }
    let exported = path(&folder, "a.thread.json");
    let again = "run {review} -i name=Ann --keep-results";
    let again = again.replace("{review}", &review);
    petalflow!("{again} --store {store} --thread kept").code(7);
    petalflow!("threads export kept --store {store} --no-secrets -o {exported}").code(0);
    for line in [
        format!("threads list --store {store}"),
        format!("threads list --store {store} --json"),
        format!("threads list --store {store} --count"),
        format!("threads show a --store {store}"),
        format!("threads show a --store {store} --history"),
        format!("threads show a --store {store} --json"),
        format!("graph {review}"),
        format!("validate --json {review}"),
        format!("replay {exported}"),
        format!("replay {exported} --json"),
        "tools".into(),
        "tools human --json".into(),
        "man run".into(),
        "completions bash".into(),
        "--help".into(),
    ] {
        at_every_line_up_to(3, &line);
    }
}

fn at_every_line_up_to(most: usize, line: &str) {
    at_first_lines(most, line, 0);
}

/// Closes the pipe after each of the first lines of the output.
fn at_first_lines(most: usize, line: &str, code: i32) {
    for lines in 0..most {
        let (ended, _) = closed_after(lines, line, "");
        assert_eq!(ended, Some(code), "closed after {lines} lines: {line}");
    }
}

#[test]
fn f45_an_exit_code_says_the_result_also_if_nobody_reads() {
    let folder = folder();
    let wrong = document("wrong.graph.json");
    let warning = document("warning.graph.json");
    let failing = file(
        &folder,
        "failing.test.yaml",
        &format!(
            "document: {}\ncases:\n  - name: a\n    input: {{ name: Ann }}\n    expect: {{ greeting: Bye }}\n",
            document("greeting.graph.json")
        ),
    );
    for (line, code) in [
        (format!("validate {wrong}"), 1),
        (format!("validate {wrong} --json"), 1),
        (format!("validate --strict {warning}"), 1),
        (
            format!("validate {warning} {}", path(&folder, "absent.json")),
            3,
        ),
        (format!("test {failing}"), 2),
        (format!("test {failing} --json"), 2),
        (format!("run {} --json", document("research.agent.yaml")), 2),
    ] {
        at_first_lines(4, &line, code);
    }
}
