//! `petalflow chat`.

use serde_json::json;

use crate::program::{document, file, folder, path, petalflow, run_with_input, test_data};

const REPLIES: &str = r#"[
    "What would you like?",
    { "calls": [{ "name": "check_order", "arguments": { "dish": "soup" } }] },
    "Sorry, the soup is sold out.",
    { "calls": [{ "name": "check_order", "arguments": { "dish": "salad" } }] },
    "Goodbye!"
]"#;

#[test]
fn p209_a_conversation_continues_until_it_ends() {
    let folder = folder();
    let replies = file(&folder, "replies.json", REPLIES);
    let counter = path(&folder, "counter");
    let check = file(
        &folder,
        "check.sh",
        "read line; case \"$line\" in *soup*) echo '{\"status\": \"sold_out\"}';; *) echo '{\"status\": \"ok\"}';; esac",
    );
    let tool = format!("check_order=sh '{check}' '{counter}'");
    let order = document("food_order.json");
    let ran = run_with_input(
        "Soup.\nThen a salad.\nNobody reads this.\n",
        [
            "chat",
            &order,
            "-i",
            "guest=Ann",
            "--script",
            &replies,
            "--tool",
            &tool,
        ],
    )
    .code(0);
    assert_eq!(
        ran.out,
        "What would you like?\nSorry, the soup is sold out.\nOne moment.\nGoodbye!\n"
    );
    assert!(
        ran.err.contains("calls check_order({\"dish\":\"soup\"})")
            && ran.err.contains("the conversation has ended"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_the_events_of_a_conversation_are_json_for_programs() {
    let folder = folder();
    let replies = file(
        &folder,
        "replies.json",
        r#"["Hello.", {"calls": [{"name": "check_order"}]}, "Bye."]"#,
    );
    let ran = run_with_input(
        "Soup.\n",
        [
            "chat",
            &document("food_order.json"),
            "-i",
            "guest=Ann",
            "--script",
            &replies,
            "--json",
            "--result",
            r#"check_order={"status": "ok"}"#,
        ],
    )
    .code(0);
    let lines = ran.lines();
    assert_eq!(lines[0], json!({ "entered": { "node": "start" } }));
    assert!(
        lines.contains(&json!({ "answer": { "text": "Hello." } })),
        "{}",
        ran.out
    );
    assert!(
        lines.contains(&json!({ "say": { "text": "One moment." } })),
        "{}",
        ran.out
    );
    assert_eq!(lines[lines.len() - 1], json!("ended"));
}

#[test]
fn p209_a_stored_conversation_continues_in_another_process() {
    let folder = folder();
    let store = path(&folder, "chats.db");
    let first = file(&folder, "first.json", r#"["What would you like?"]"#);
    let order = document("food_order.json");
    let chat = [
        "chat",
        &order,
        "-i",
        "guest=Ann",
        "--store",
        &store,
        "--thread",
        "ann",
        "--script",
    ];
    let ran = run_with_input("", chat.into_iter().chain([first.as_str()])).code(0);
    assert_eq!(ran.out, "What would you like?\n");
    assert!(ran.err.contains("--thread ann"), "{}", ran.err);

    let shown = petalflow!("threads show ann --store {store} --json")
        .code(0)
        .json();
    assert_eq!(
        (&shown["node"], &shown["ended"]),
        (&json!("start"), &json!(false))
    );
    let ran = petalflow!("threads resume ann --store {store}").code(6);
    assert!(ran.err.contains("petalflow chat"), "{}", ran.err);

    let second = file(
        &folder,
        "second.json",
        r#"[{"calls": [{"name": "check_order"}]}, "Bye."]"#,
    );
    let ran = run_with_input("Salad.\n", chat.into_iter().chain([second.as_str()])).code(0);
    assert_eq!(ran.out, "What would you like?\nOne moment.\nBye.\n");
    let ran = run_with_input("More.\n", chat.into_iter().chain([second.as_str()])).code(8);
    assert!(ran.err.contains("has ended"), "{}", ran.err);
}

#[test]
fn p209_a_conversation_says_what_is_missing() {
    let folder = folder();
    let replies = file(&folder, "replies.json", r#"["Hello."]"#);
    petalflow!("chat food_order.json").code(5);
    let ran = petalflow!("chat food_order.json --script {replies} --result chek_order=1").code(4);
    assert!(
        ran.err.contains("no function `chek_order`") && ran.err.contains("check_order"),
        "{}",
        ran.err
    );
    let ran =
        petalflow!("chat food_order.json --script {replies} --result 'check_order={{'").code(64);
    assert!(ran.err.contains("not JSON"), "{}", ran.err);
    petalflow!("chat greeting.graph.json --script {replies}").code(6);
    // The prompt of the first node needs the name of the guest.
    let ran = petalflow!("chat food_order.json --script {replies}").code(2);
    assert!(ran.err.contains("guest"), "{}", ran.err);
}

#[test]
fn p209_the_editors_own_document_can_be_talked_with() {
    let Some(minimal) = test_data("pipecat/editor/minimal.json") else {
        return;
    };
    let folder = folder();
    let replies = file(
        &folder,
        "replies.yaml",
        "- Hello!\n- calls: [{ name: done }]\n- Goodbye.\n",
    );
    let ran = run_with_input(
        "Done.\n",
        ["chat", &minimal.display().to_string(), "--script", &replies],
    )
    .code(0);
    assert_eq!(ran.out, "Hello!\nGoodbye.\n");
}

#[cfg(unix)]
#[test]
fn f45_a_turn_that_is_stopped_says_so_and_continues_later() {
    use std::process::{Command, Stdio};

    let folder = folder();
    let (store, started) = (path(&folder, "chats.db"), path(&folder, "started"));
    let replies = file(&folder, "replies.json", REPLIES);
    let slow = file(
        &folder,
        "slow.sh",
        &format!("touch '{started}'; sleep 60; echo null"),
    );
    let mut child = crate::program::program()
        .args(["chat", &document("food_order.json"), "-i", "guest=Ann"])
        .args(["--script", &replies, "--store", &store, "--thread", "ann"])
        .args(["--tool", &format!("check_order=sh '{slow}'")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"Soup.\n").expect("it reads");
    while !std::path::Path::new(&started).exists() {
        assert!(child.try_wait().expect("its state").is_none());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("`kill` starts").success());
    let ran = crate::program::Ran::from_output(&child.wait_with_output().expect("it ends"));
    let ran = ran.code(130);
    assert!(
        ran.err.ends_with("error: the turn was stopped\n") && ran.err.contains("--thread ann"),
        "{}",
        ran.err
    );
    let shown = petalflow!("threads show ann --store {store} --json").code(0);
    assert_ne!(shown.json()["status"], "finished", "{}", shown.out);
}
