//! The help: each example in it runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Ran, document, petalflow, run_program};

const COMMANDS: [&[&str]; 43] = [
    &[],
    &["run"],
    &["replay"],
    &["test"],
    &["validate"],
    &["compile"],
    &["graph"],
    &["serve"],
    &["dev"],
    &["studio"],
    &["threads"],
    &["threads", "list"],
    &["threads", "show"],
    &["threads", "resume"],
    &["threads", "cancel"],
    &["threads", "hold"],
    &["threads", "drain"],
    &["threads", "follow"],
    &["threads", "label"],
    &["threads", "delete"],
    &["threads", "prune"],
    &["threads", "copy"],
    &["threads", "fork"],
    &["threads", "export"],
    &["threads", "import"],
    &["threads", "verify"],
    &["schedules"],
    &["schedules", "list"],
    &["schedules", "show"],
    &["schedules", "set"],
    &["schedules", "delete"],
    &["schedules", "pause"],
    &["schedules", "unpause"],
    &["schedules", "run"],
    &["schedules", "backfill"],
    &["doctor"],
    &["new"],
    &["tools"],
    &["chat"],
    &["acp"],
    &["convert"],
    &["completions"],
    &["man"],
];

#[test]
fn p209_each_command_has_help_with_examples() {
    for command in COMMANDS {
        let ran = run_program(command.iter().copied().chain(["--help"])).code(0);
        assert!(
            ran.out.contains("Usage: petalflow") && !examples(&ran.out).is_empty(),
            "{command:?}: {}",
            ran.out
        );
        assert!(ran.err.is_empty());
    }
    assert!(
        petalflow!("--version")
            .code(0)
            .out
            .starts_with("petalflow 0.")
    );
}

#[test]
fn man_prints_a_page_of_the_program_and_of_each_command() {
    for (command, name) in [
        ("man", "petalflow"),
        ("man threads resume", "petalflow-threads-resume"),
    ] {
        let page = run_program(command.split(' ')).code(0).out;
        assert!(page.contains(".TH") && page.contains(name), "{page}");
    }
    let ran = petalflow!("man nothing").code(64);
    assert!(
        ran.err.contains("there is no command `nothing`"),
        "{}",
        ran.err
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    petalflow!("man -o {}", folder.path().display()).code(0);
    let entries = std::fs::read_dir(folder.path()).expect("the folder was made");
    let written: BTreeSet<String> = entries
        .map(|entry| entry.expect("an entry").file_name().display().to_string())
        .collect();
    // One page for each command, and none for `help`.
    let pages =
        COMMANDS.map(|command| format!("{}.1", [&["petalflow"], command].concat().join("-")));
    assert_eq!(written, pages.into());
}

/// The lines below `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .map(|line| line.trim().to_owned())
        .collect()
}

#[cfg(unix)]
#[test]
fn p209_the_examples_of_the_help_run() {
    let mut count = 0;
    for command in COMMANDS {
        let help = run_program(command.iter().copied().chain(["--help"]))
            .code(0)
            .out;
        for example in examples(&help) {
            // A model of a provider, Graphviz, and a server that does not end.
            let needs_more = example.contains("--model")
                || example.contains("--server")
                || ["serve", "dev", "studio"]
                    .iter()
                    .any(|it| example.contains(&format!("petalflow {it}")))
                || (example.contains("| dot") && !has("dot"));
            if needs_more {
                continue;
            }
            let folder = tempfile::tempdir().expect("a temporary folder");
            prepare(folder.path());
            if example.contains("threads") || example.contains("doctor") {
                let wait =
                    "petalflow run review.graph.yaml -i name=Ann --store runs.db --thread review-1";
                shell(wait, folder.path()).code(7);
            }
            if example.contains(".thread.json") {
                let export = "petalflow run review.graph.yaml -i name=Ann --store kept.db --thread review-1 --keep-results; \
                              petalflow threads export review-1 --store kept.db --no-secrets -o review-1.thread.json";
                shell(export, folder.path()).code(0);
            }
            let ran = shell(&example, folder.path());
            assert!(
                matches!(ran.code, 0 | 7),
                "`{example}` ended with {}: {}{}",
                ran.code,
                ran.out,
                ran.err
            );
            count += 1;
        }
    }
    assert!(count > 25, "{count} examples");
}

/// Writes the files that the examples name.
fn prepare(folder: &Path) {
    let copy = |from: &str, to: &str| {
        let to = folder.join(to);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("the folder can be made");
        std::fs::copy(document(from), to).expect("the file can be copied");
    };
    for name in [
        "greeting.graph.json",
        "greeting.test.yaml",
        "research.agent.yaml",
        "review.graph.yaml",
        "food_order.json",
        "old_order.json",
    ] {
        copy(name, name);
    }
    copy("old_order.json", "order.json");
    copy("review.graph.yaml", "flows/review.yaml");
    for folder_of_shell in [
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ] {
        std::fs::create_dir_all(folder.join(folder_of_shell)).expect("the folder can be made");
    }
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("the file can be written");
    };
    write("input.json", r#"{"name": "Ann"}"#);
    write("replies.json", r#"["One.", "Two."]"#);
    write("talk.json", r#"["One."]"#);
    // The examples set no value for its prompt.
    let order = std::fs::read_to_string(document("food_order.json")).expect("the document");
    write(
        "food_order.json",
        &order.replace("{{ guest }}", "the guest"),
    );
}

/// Runs a line as a shell does.
pub(crate) fn shell(line: &str, folder: &Path) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_petalflow"))
        .parent()
        .expect("a folder");
    let path = std::env::join_paths(std::iter::once(program.to_path_buf()).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ));
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", path.expect("the paths have no colon"))
        .env_remove("PETALFLOW_STORE")
        .stdin(Stdio::null())
        .output();
    Ran::from_output(&output.expect("a shell starts"))
}

fn has(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}
