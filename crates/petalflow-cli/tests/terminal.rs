//! The program on a terminal: `script` of util-linux makes one.

#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::program::{Ran, document, file, folder, path, petalflow};

/// Runs the program on a terminal, with these lines typed. `None` if there is no `script`.
fn on_a_terminal(arguments: &str, typed: &str) -> Option<Ran> {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_petalflow"));
    run_on_a_terminal(&line, typed)
}

/// Runs a line of a shell on a terminal.
fn run_on_a_terminal(line: &str, typed: &str) -> Option<Ran> {
    let child = Command::new("script")
        .args(["-qec", line, "/dev/null"])
        .env_remove("PETALFLOW_STORE")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: the program `script` is not there");
        return None;
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(typed.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    Some(Ran::from_output(&output))
}

#[test]
fn p209_a_question_is_asked_on_a_terminal() {
    let Some(ran) = on_a_terminal(
        &format!(
            "run {} -i name=Ann --var output",
            document("review.graph.yaml")
        ),
        "perhaps\nno: too short\n",
    ) else {
        return;
    };
    let ran = ran.code(0);
    assert!(
        ran.out.contains("Send the letter?") && ran.out.contains("approve or reject?"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("neither an approval nor a rejection"),
        "it asks again: {}",
        ran.out
    );
    assert!(
        ran.out.contains("Dear Ann, Bo (sent: false)"),
        "{}",
        ran.out
    );
}

#[test]
fn p209_a_terminal_has_progress_and_colors() {
    let Some(ran) = on_a_terminal(
        &format!("run {} -i name=Ann", document("greeting.graph.json")),
        "",
    ) else {
        return;
    };
    assert!(ran.code(0).out.contains('\u{1b}'));
    let line = format!("validate {}", document("wrong.graph.json"));
    let ran = on_a_terminal(&line, "")
        .expect("it was there before")
        .code(1);
    assert!(ran.out.contains("\u{1b}["), "{}", ran.out);
}

#[test]
fn p209_the_end_of_the_input_leaves_a_question_open() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let line = format!(
        "run {} -i name=Ann --store {store} --thread r",
        document("review.graph.yaml")
    );
    // Ctrl-D.
    let Some(ran) = on_a_terminal(&line, "\u{4}") else {
        return;
    };
    assert!(ran.code(7).out.contains("petalflow threads resume r"));
    petalflow!("threads resume r --store {store} --answer yes").code(0);
}

#[test]
fn a_terminal_shows_the_text_of_models_line_by_line() {
    let folder = folder();
    let replies = file(
        &folder,
        "replies.json",
        r#"["First line.\nSecond \u001b[31mline.", "A report."]"#,
    );
    let line = format!(
        "run {} -i topic=tulips --script {replies} -o {}",
        document("research.agent.yaml"),
        path(&folder, "result.txt")
    );
    let Some(ran) = on_a_terminal(&line, "") else {
        return;
    };
    let ran = ran.code(0);
    assert!(
        ran.out.contains("First line.") && ran.out.contains("Second \\u001b[31mline."),
        "what the model writes reaches no terminal as control characters: {}",
        ran.out
    );
    let quiet = on_a_terminal(&format!("{line} --quiet"), "").expect("it was there before");
    assert!(!quiet.code(0).out.contains("First line."));
}

#[test]
fn f45_what_follows_a_prompt_without_an_answer_begins_its_own_line() {
    let folder = folder();
    let store = path(&folder, "chats.db");
    let replies = file(&folder, "replies.json", r#"["What would you like?"]"#);
    let order = file(
        &folder,
        "order.json",
        r#"{ "initial_node": "start", "nodes": { "start": {
            "task_messages": [{ "role": "developer", "content": "Ask." }], "functions": [] } } }"#,
    );
    // Ctrl-D.
    let line = format!("chat {order} --script {replies} --store {store} --thread c");
    let Some(ran) = on_a_terminal(&line, "\u{4}") else {
        return;
    };
    let ran = ran.code(0);
    let hint = ran.out.lines().find(|line| line.contains("continue with"));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {}", ran.out));
    assert!(!hint.contains("> "), "{}", ran.out);
}

#[test]
fn f45_a_person_confirms_a_command_for_many_threads() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let greeting = document("greeting.graph.json");
    for thread in ["a", "b"] {
        petalflow!("run {greeting} -i name=Ann --store {store} --thread {thread}").code(0);
    }
    let line = format!("threads delete --all --store {store}");
    let Some(ran) = on_a_terminal(&line, "\n") else {
        return;
    };
    let ran = ran.code(0);
    assert!(
        ran.out.contains("delete 2 threads? [y/N]") && ran.out.contains("nothing was changed"),
        "{}",
        ran.out
    );
    let ran = on_a_terminal(&line, "y\n")
        .expect("it was there before")
        .code(0);
    assert!(ran.out.contains("deleted"), "{}", ran.out);
    let listed = petalflow!("threads list --store {store}").code(0);
    assert_eq!(listed.out, "");
}

#[test]
fn f44_the_table_of_a_replay_fits_a_terminal_of_60_columns() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let review = document("review.graph.yaml");
    petalflow!("run {review} -i name=Ann --store {store} --thread r --keep-results").code(7);
    let thread = path(&folder, "r.thread.json");
    petalflow!("threads export r --store {store} --no-secrets -o {thread}").code(0);
    let text = std::fs::read_to_string(&review).expect("the document");
    let renamed = "sign_the_letter_with_the_name_of_the_sender";
    let other = text.replace("id: sign", &format!("id: {renamed}"));
    let other = other.replace("target: sign ", &format!("target: {renamed} "));
    let other = other.replace("source: sign,", &format!("source: {renamed},"));
    assert!(other.matches(renamed).count() == 3, "{other}");
    let other = file(&folder, "other.graph.yaml", &other);
    let program = env!("CARGO_BIN_EXE_petalflow");
    // A terminal without rows has no size.
    let line = format!("sh -c 'stty rows 24 cols 60; {program} replay {thread} --flow {other}'");
    let Some(ran) = run_on_a_terminal(&line, "") else {
        return;
    };
    assert!(ran.out.contains("superstep "), "{}", ran.out);
    let is_sentence =
        |line: &str| line.starts_with("thread ") || line.contains(" supersteps were not");
    let long = ran
        .out
        .lines()
        .find(|line| line.trim_end().chars().count() > 60 && !is_sentence(line));
    assert!(long.is_none(), "{}", ran.out);
}

#[test]
fn f45_the_help_breaks_lines_between_words_at_60_columns() {
    let program = env!("CARGO_BIN_EXE_petalflow");
    for command in [
        "--help",
        "run --help",
        "threads --help",
        "threads resume --help",
    ] {
        // A terminal without rows has no size.
        let line = format!("sh -c 'stty rows 24 cols 60; {program} {command}'");
        let Some(ran) = run_on_a_terminal(&line, "") else {
            return;
        };
        let shown = text_without_styles(&ran.code(0).out);
        let long = shown
            .lines()
            .find(|line| line.trim_end().chars().count() > 60);
        assert!(long.is_none(), "{command}: {long:?}");
        let words: Vec<&str> = shown.split_whitespace().collect();
        let whole = petalflow!("{command}").code(0).out;
        let expected: Vec<&str> = whole.split_whitespace().collect();
        assert_eq!(words, expected, "{command}");
    }
}

/// A text without the codes for colors.
fn text_without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or("", |(_, text)| text)
    })
}
