//! Files of an agent, in its thread or in a folder.

use crate::kit::{results, scripted_agent};
use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::deep::Workspace;
use petalflow_agent::{Conversation, ConversationInput};
use petalflow_llm::Reply;
use serde_json::{Value, json};

fn write(path: &str, text: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "text": text }))
}

fn edit(path: &str, old: &str, new: &str) -> Reply {
    Reply::call("edit_file", json!({ "path": path, "old": old, "new": new }))
}

fn error(problem: &str) -> Value {
    json!({ "error": problem })
}

/// Works on files in two turns, and returns the results.
async fn work(workspace: Workspace) -> (Vec<Value>, Conversation) {
    let replies = [
        write("/notes/rose.md", "one\ntwo\nthree\n"),
        write("tulip.md", "four\n"),
        edit("notes/rose.md", "two", "2"),
        edit("notes/rose.md", "two", "2"),
        edit("notes/rose.md", "e", "E"),
        edit("lily.md", "a", "b"),
        "first".into(),
        Reply::call("ls", json!({})),
        Reply::call("ls", json!({ "folder": "/notes/" })),
        Reply::call(
            "read_file",
            json!({ "path": "notes/rose.md", "first_line": 2, "lines": 1 }),
        ),
        Reply::call("read_file", json!({ "path": "lily.md" })),
        Reply::call("glob", json!({ "pattern": "*.md" })),
        Reply::call("glob", json!({ "pattern": "notes/*" })),
        Reply::call("grep", json!({ "expression": "^[2f]" })),
        Reply::call(
            "grep",
            json!({ "expression": "^[2f]", "files": "notes/**" }),
        ),
        Reply::call("read_file", json!({ "path": "../secret" })),
        write(".git/config", "x"),
        "second".into(),
    ];
    let (agent, _) = scripted_agent(replies);
    let agent = agent.workspace(workspace);
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    let _ = thread.run("Write.").await.unwrap();
    let talk = thread.run("Read.").await.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "second");
    (results(&talk), talk)
}

fn expected() -> Vec<Value> {
    vec![
        json!({ "written": "notes/rose.md" }),
        json!({ "written": "tulip.md" }),
        json!({ "edited": "notes/rose.md" }),
        error(
            "`notes/rose.md` does not have the text `old`: read the file, and give the text exactly as it is there",
        ),
        error("`notes/rose.md` has the text `old` more than once: give more of the text around it"),
        error("there is no file `lily.md` to edit"),
        json!({ "files": ["notes/rose.md", "tulip.md"] }),
        json!({ "files": ["notes/rose.md"] }),
        json!({ "text": "2\n", "first_line": 2, "last_line": 2, "lines_of_file": 3 }),
        error("there is no file `lily.md`: `ls` lists the files"),
        json!({ "files": ["notes/rose.md", "tulip.md"] }),
        json!({ "files": ["notes/rose.md"] }),
        json!({ "lines": ["notes/rose.md:2: 2", "tulip.md:1: four"] }),
        json!({ "lines": ["notes/rose.md:2: 2"] }),
        error(
            "`../secret` is no path of a file here: a path does not leave the folder, so it has no `..`",
        ),
        error(
            "`.git/config` is no path of a file here: names that begin with a dot are not part of the files here",
        ),
    ]
}

#[tokio::test]
async fn f44_files_are_in_the_thread() {
    let (results, talk) = work(Workspace::in_thread()).await;
    assert_eq!(results, expected());
    let files: Vec<_> = Workspace::files_in(&talk).into_iter().collect();
    assert_eq!(
        files,
        [("notes/rose.md", "one\n2\nthree\n"), ("tulip.md", "four\n")]
    );
}

#[tokio::test]
async fn f44_files_are_in_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (results, talk) = work(Workspace::folder(dir.path()).unwrap()).await;
    assert_eq!(results, expected());
    assert!(Workspace::files_in(&talk).is_empty());
    let rose = std::fs::read_to_string(dir.path().join("notes/rose.md")).unwrap();
    assert_eq!(rose, "one\n2\nthree\n");
    let names: Vec<_> = std::fs::read_dir(dir.path().join("notes"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1, "nothing is left of a write");
}

#[tokio::test]
async fn f44_calls_of_one_answer_do_not_lose_a_change() {
    let both = edit("a.md", "1", "one").and_call(
        "edit_file",
        json!({ "path": "/a.md", "old": "2", "new": "two" }),
    );
    let both = both.and_call("write_file", json!({ "path": "b.md", "text": "b" }));
    let (agent, _) = scripted_agent([both, edit("a.md", "2", "two"), "done".into()]);
    let agent = agent.workspace(Workspace::in_thread());
    let input = ConversationInput::from("Spell the numbers.").with_state("file:a.md", "1 2");
    let talk = agent.run(input).await.unwrap();
    let expected = [
        json!({ "edited": "a.md" }),
        error(
            "another call of the same answer changes `a.md`: call this one again after its result",
        ),
        json!({ "written": "b.md" }),
        json!({ "edited": "a.md" }),
    ];
    assert_eq!(results(&talk), expected);
    let files: Vec<_> = Workspace::files_in(&talk).into_iter().collect();
    assert_eq!(files, [("a.md", "one two"), ("b.md", "b")]);
}
