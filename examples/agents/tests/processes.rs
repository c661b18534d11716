//! The examples as a user runs them, without a key.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use petalflow_test_support::ends_before_kill;

/// A program with these arguments, in an environment without a model.
fn command(program: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    let models = [
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "MODEL",
    ];
    for name in models {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Runs a program with these arguments and lines, and returns its output.
fn run(program: &str, folder: &Path, arguments: &[&str], lines: &str) -> String {
    let mut child = command(program, folder, arguments)
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    // A program that reads nothing may have ended already.
    let _ = input.write_all(lines.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program} {arguments:?} fails");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn the_assistant_continues_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let assistant = |lines: &str| run(env!("CARGO_BIN_EXE_assistant"), folder.path(), &[], lines);
    let output = assistant("remember that I like tulips\nforget everything\n");
    assert!(output.starts_with("model: a script"), "{output}");
    assert!(output.contains("Do it? [y/N]"), "{output}");
    let output = assistant("no\nwhat do you know?\n");
    assert!(output.contains("I know this: I like tulips."), "{output}");
}

/// What the small project of `coder` is when the work is done.
fn assert_is_mended(folder: &Path) {
    let text = |name: &str| std::fs::read_to_string(folder.join("project").join(name));
    let mended = "echo $(($1 * $2))\n";
    assert_eq!(text("total.sh").expect("it is there"), mended);
    assert_eq!(text("total.old").expect("the command has run"), mended);
}

#[test]
fn f44_the_coder_mends_a_project_and_asks_before_other_commands() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let coder = |lines: &str| run(env!("CARGO_BIN_EXE_coder"), folder.path(), &[], lines);
    let asks = coder("");
    assert!(
        asks.ends_with(
            "Run `cp total.sh total.old`? [y/N] \nIt waits for your decision: call it again.\n"
        ),
        "{asks}"
    );
    assert!(!folder.path().join("project/total.old").exists());
    let ends = coder("y\n");
    assert!(
        ends.ends_with("[x] mend total.sh\n\ntotal.sh multiplies now, and the check passes.\n"),
        "{ends}"
    );
    assert_is_mended(folder.path());
}

/// Runs a program and kills it, again and again, until it ends by itself.
fn kill_until_it_ends(program: &str, folder: &Path, arguments: &[&str], lines: &str) {
    let mut kills = 0;
    loop {
        let mut child = command(program, folder, arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut person = child.stdin.take().expect("it is piped");
        // It may have ended already.
        let _ = person.write_all(lines.as_bytes());
        if ends_before_kill(child, kills) {
            break;
        }
        kills += 1;
        assert!(kills < 5_000, "it never ends");
    }
    assert!(kills > 0, "no process was killed");
}

#[test]
fn f44_a_coder_that_is_killed_again_and_again_mends_the_project() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    kill_until_it_ends(env!("CARGO_BIN_EXE_coder"), folder.path(), &[], "y\n");
    assert_is_mended(folder.path());
}

#[test]
fn f44_the_helpdesk_loads_the_skill_and_a_person_decides_about_large_sums() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let helpdesk = |arguments: &[&str]| {
        let output = run(env!("CARGO_BIN_EXE_helpdesk"), folder.path(), arguments, "");
        let answer = output.lines().skip(1).collect::<Vec<_>>();
        answer.join("\n")
    };
    let where_is = helpdesk(&["Where is C-5?"]);
    assert_eq!(where_is, "It arrives tomorrow.");
    let small = helpdesk(&["B-2 arrived broken."]);
    assert_eq!(small, "Done: I have paid 20 euros back for B-2.");
    let large = helpdesk(&["A-17 is broken too."]);
    let asks = "Pay 80 euros back for A-17? Call it again with --yes or --no.";
    assert!(large.starts_with(asks), "{large}");
    assert!(!folder.path().join("payments/A-17").exists());
    assert_eq!(helpdesk(&["--no"]), "I am sorry: we do not pay it back.");
    assert!(!folder.path().join("payments/A-17").exists());
}

#[test]
fn f44_a_helpdesk_that_is_killed_again_and_again_pays_once_after_the_decision() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let program = env!("CARGO_BIN_EXE_helpdesk");
    let line = "My lamp arrived broken. The order is A-17.";
    kill_until_it_ends(program, folder.path(), &[line], "");
    assert!(!folder.path().join("payments").exists());
    kill_until_it_ends(program, folder.path(), &["--yes"], "");
    let output = run(program, folder.path(), &[], "");
    assert!(
        output.ends_with("\nDone: I have paid 80 euros back for A-17.\n"),
        "{output}"
    );
    let paid = std::fs::read_to_string(folder.path().join("payments/A-17"));
    assert_eq!(paid.expect("it is paid"), "80 euros\n");
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
fn the_programs_in_the_documents_are_these_and_run() {
    for (document, text, program, code) in [
        (
            "README.md",
            include_str!("../../../README.md"),
            "support.rs",
            include_str!("../src/bin/support.rs"),
        ),
        (
            "docs/guide/agents.md",
            include_str!("../../../docs/guide/agents.md"),
            "librarian.rs",
            include_str!("../src/bin/librarian.rs"),
        ),
    ] {
        assert!(
            text.contains(code),
            "{document} does not have `{program}` as it is: copy it there"
        );
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let output = run(env!("CARGO_BIN_EXE_librarian"), folder.path(), &[], "");
    assert_eq!(output, "The Rose is on shelf 2.\n");
    let support = || run(env!("CARGO_BIN_EXE_support"), folder.path(), &[], "");
    let asks = support();
    assert!(asks.contains("pay_back({\"order\":\"A-17\"})"), "{asks}");
    assert_eq!(support(), "I have paid A-17 back.\n");
}

#[test]
fn documents_greet_and_do_research() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let documents = env!("CARGO_BIN_EXE_documents");
    let output = run(documents, folder.path(), &["tulips"], "");
    assert!(
        output
            .starts_with("Hello, reader! Welcome to PetalFlow.\ngpt-5.4: I was asked to do this: "),
        "{output}"
    );
    // The second task has the result of the first.
    assert!(
        output.contains("claude-sonnet-4-6: I was asked to do this: "),
        "{output}"
    );
    assert!(output.contains("Research tulips."), "{output}");
}

/// A server with OpenAI's protocol. It answers one request with these words in two pieces, and returns the request.
fn serve(words: [&'static str; 2]) -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is known");
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let mut reader = BufReader::new(stream.try_clone().expect("it is shared"));
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("it reads");
            let header = line.to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut asked = vec![0; length];
        reader.read_exact(&mut asked).expect("it reads");
        let piece = |words: &str| {
            let delta = serde_json::json!({
                "id": "1", "object": "chat.completion.chunk", "model": "m",
                "choices": [{ "index": 0, "delta": { "content": words }, "finish_reason": null }]
            });
            format!("data: {delta}\n\n")
        };
        let [one, other] = words;
        let body = format!("{}{}data: [DONE]\n\n", piece(one), piece(other));
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .expect("it is heard");
        String::from_utf8(asked).expect("it is JSON")
    });
    (format!("http://{address}/v1"), answering)
}

#[test]
fn the_assistant_asks_the_server_that_the_environment_names() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (url, answering) = serve(["Hello ", "Ann."]);
    let mut child = command(env!("CARGO_BIN_EXE_assistant"), folder.path(), &[])
        .env("OPENAI_BASE_URL", &url)
        .env("MODEL", "tiny")
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(b"hi there\n").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let output = String::from_utf8(output.stdout).expect("it prints text");
    assert!(
        output.starts_with(&format!("model: tiny at {url}\n> Hello Ann.\n")),
        "{output}"
    );
    let asked: serde_json::Value =
        serde_json::from_str(&answering.join().expect("it answers")).expect("it is JSON");
    assert_eq!(
        (&asked["model"], &asked["stream"]),
        (&serde_json::json!("tiny"), &serde_json::json!(true))
    );
    let tools: Vec<_> = asked["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(tools, ["forget_everything", "recall", "remember"]);
    assert!(asked["messages"].to_string().contains("hi there"));
}

#[test]
fn the_careful_agent_counts_blocks_and_saves() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let careful = |lines: &str| run(env!("CARGO_BIN_EXE_careful"), folder.path(), &[], lines);
    let output = careful("note: buy tulips\nmy card is 4000123456789010\n");
    assert!(
        output.contains("I have saved it.  (2 requests, 1 tool calls)"),
        "{output}"
    );
    assert!(
        output.contains("Please do not send card numbers.  (2 requests"),
        "{output}"
    );
    let output = careful("note: water them\n");
    assert!(
        output.contains(
            "(4 requests, 2 tool calls)\nnotes.txt has version 1\nnotes.txt has version 2"
        ),
        "{output}"
    );
}

#[test]
fn the_evaluation_passes_and_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let arguments = ["--cassettes", "cassettes", "--junit", "report.xml"];
    for _ in 0..2 {
        let report = run(
            env!("CARGO_BIN_EXE_evaluate"),
            folder.path(),
            &arguments,
            "",
        );
        assert!(report.contains("2 of 2 cases passed"), "{report}");
    }
    let xml = std::fs::read_to_string(folder.path().join("report.xml")).expect("it is written");
    assert!(xml.contains("tests=\"2\" failures=\"0\""), "{xml}");
    let cassettes = std::fs::read_dir(folder.path().join("cassettes")).expect("it is there");
    assert_eq!(cassettes.count(), 2);
}
