//! Documents that include files.

use std::fs;
use std::path::PathBuf;

use petalflow_document_model::conversations::{Code, Source, check};

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = format!("petalflow-includes-{}-{name}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(folder));
        for (path, text) in files {
            let file = folder.0.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    /// The document, with the name `flow.yaml` in messages.
    fn source(&self) -> Source {
        let source = Source::read(self.0.join("flow.yaml")).unwrap();
        source.named("flow.yaml")
    }

    /// What is wrong with the document.
    fn errors(&self) -> String {
        check(&self.source()).unwrap_err().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FLOW: &str = "
initial_node: start
nodes:
  start: !include nodes/start.yaml
  end:
    role_message: !include prompts/role.md
    task_messages: []
";

const START: &str = "
task_messages:
  - role: developer
    content: !include prompts/hello.md
functions:
  - { name: go, transition_to: end }
";

#[test]
fn a_file_is_a_value_and_paths_are_relative_to_the_document() {
    let folder = Folder::new(
        "values",
        &[
            ("flow.yaml", FLOW),
            ("nodes/start.yaml", START),
            (
                "prompts/hello.md",
                "Greet the caller,\nand ask for the name.",
            ),
            ("prompts/role.md", "You take orders."),
        ],
    );
    let conversation = check(&folder.source()).unwrap().conversation;
    let start = &conversation.nodes["start"];
    assert_eq!(
        start.task_messages[0].content,
        "Greet the caller, and ask for the name."
    );
    assert_eq!(start.functions[0].name, "go");
    assert_eq!(
        conversation.nodes["end"].role_message.as_deref(),
        Some("You take orders.")
    );
    assert_eq!(
        folder.source().included(),
        ["nodes/start.yaml", "prompts/hello.md", "prompts/role.md"]
    );
    // The same from texts, as `conversation!` compiles them into a program.
    let texts = [
        ("nodes/start.yaml", START),
        (
            "prompts/hello.md",
            "Greet the caller,\nand ask for the name.",
        ),
        ("prompts/role.md", "You take orders."),
    ];
    let from_texts = check(&Source::new("flow.yaml", FLOW).including(texts)).unwrap();
    assert_eq!(from_texts.conversation, conversation);
}

#[test]
fn a_mistake_has_the_file_in_which_it_is() {
    let folder = Folder::new(
        "mistakes",
        &[
            (
                "flow.yaml",
                "initial_node: start\nnodes:\n  start: !include start.yaml\n  b: { tasks: [] }\n",
            ),
            (
                "start.yaml",
                "task_messages: []\nfunctions:\n  - name: go\n    transition_to: nowhere\n  - nam: x\n",
            ),
        ],
    );
    let errors = folder.errors();
    let places: Vec<&str> = errors
        .lines()
        .filter_map(|line| line.split(": error").next())
        .collect();
    assert_eq!(
        places,
        [
            "flow.yaml:4:6",
            "flow.yaml:4:8",
            "start.yaml:4:20",
            "start.yaml:5:5"
        ],
        "{errors}"
    );
}

#[test]
fn what_cannot_be_included_is_told_at_the_tag() {
    let errors = |name: &str, files: &[(&str, &str)]| Folder::new(name, files).errors();
    let missing = errors(
        "missing",
        &[("flow.yaml", "a: 1\nnodes: !include gone.yaml\n")],
    );
    assert!(
        missing.starts_with("flow.yaml:2:17: error[CV-101]: `gone.yaml` cannot be read: "),
        "{missing}"
    );
    let cycle = errors(
        "cycle",
        &[
            ("flow.yaml", "nodes: !include a.yaml\n"),
            ("a.yaml", "b: !include b.yaml\n"),
            ("b.yaml", "- 1\n- !include a.yaml\n"),
        ],
    );
    assert_eq!(
        cycle,
        "b.yaml:2:12: error[CV-101]: `a.yaml` includes `b.yaml` includes `a.yaml`, which never ends"
    );
    let list = errors("list", &[("flow.yaml", "nodes: !include [a, b]\n")]);
    assert_eq!(
        list,
        "flow.yaml:1:17: error[CV-101]: `!include` takes the path of one file"
    );
    let syntax = errors(
        "syntax",
        &[
            ("flow.yaml", "nodes: !include a.yaml\n"),
            ("a.yaml", "a: 1\nb: [\n"),
        ],
    );
    assert!(syntax.starts_with("a.yaml:"), "{syntax}");
    let empty = errors(
        "empty",
        &[("flow.yaml", "nodes: !include a.yaml\n"), ("a.yaml", "")],
    );
    assert_eq!(empty, "a.yaml:1:1: error[CV-101]: the document is empty");
}

#[test]
fn a_text_without_a_folder_includes_nothing() {
    let error = check(&Source::new("a.yaml", "nodes: !include /etc/passwd")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.yaml:1:17: error[CV-101]: `!include /etc/passwd` reads a file, and this text has no folder: read the document from \
         its file"
    );
}

#[test]
fn the_limits_hold_for_all_files_together() {
    let text = format!("[{}]", "x, ".repeat(100_000));
    let many = format!("[{}]", "!include a.yaml, ".repeat(300));
    let too_large = |flow: &str, file: &str| {
        let source = Source::new("flow.yaml", flow).including([("a.yaml", file)]);
        check(&source).unwrap_err().to_string()
    };
    let values = check(
        &Source::new(
            "flow.yaml",
            "[!include a.yaml, !include a.yaml, !include a.yaml]",
        )
        .including([("a.yaml", text.as_str())]),
    );
    let found = values.unwrap_err();
    assert_eq!(found.iter().next().unwrap().code, Code::TooLarge, "{found}");
    assert!(too_large(&many, "1").contains("more than 256 files"));
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let nested = format!("{}!include a.yaml{}", "[".repeat(40), "]".repeat(40));
    assert!(too_large(&nested, &deep).contains("64"));
    let chain: Vec<(String, String)> = (0..20)
        .map(|index| {
            (
                format!("{index}.yaml"),
                format!("!include {}.yaml", index + 1),
            )
        })
        .collect();
    let source = Source::new("flow.yaml", "!include 0.yaml").including(chain);
    let error = check(&source).unwrap_err().to_string();
    assert!(
        error.contains("more than 16 files include each other"),
        "{error}"
    );
}
