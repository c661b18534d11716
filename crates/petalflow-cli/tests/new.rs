//! `petalflow new`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::help::shell;
use crate::program::Ran;

const COMPLAINT: &str = "My lamp arrived broken. The order is A-17.";

/// The workspace, which is a clone of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs cargo in a project as a user does, without a network, and with the versions of this workspace.
fn cargo(project: &Path, arguments: &[&str]) -> Ran {
    let lock = project.join("Cargo.lock");
    if !lock.exists() {
        std::fs::copy(root().join("Cargo.lock"), lock).expect("the lock file can be copied");
    }
    // What the workspace has built is not built again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("OPENAI_API_KEY")
        .env_remove("ANTHROPIC_API_KEY")
        .output();
    let ran = Ran::from_output(&output.expect("cargo starts"));
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    ran
}

fn new_project(line: &str, folder: &Path) -> Ran {
    shell(
        &format!("petalflow new {line} --source '{}'", root().display()),
        folder,
    )
}

#[test]
fn f45_an_agent_in_rust_builds_and_its_question_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = new_project("my-agent --template rust-agent", folder.path()).code(0);
    let files = [
        "Cargo.toml",
        "README.md",
        ".gitignore",
        "src/lib.rs",
        "src/main.rs",
        "tests/agent.rs",
    ];
    let names: Vec<String> = files
        .iter()
        .map(|file| format!("my-agent/{file}"))
        .collect();
    assert_eq!(made.out.lines().collect::<Vec<_>>(), names);
    let told =
        format!("try it:\n  cd my-agent\n  cargo run -- \"{COMPLAINT}\"\n  cargo run -- yes\n");
    assert_eq!(made.err, told);

    let project = folder.path().join("my-agent");
    let readme = std::fs::read_to_string(project.join("README.md")).expect("it was written");
    for command in made.err.lines().skip(2) {
        assert!(
            readme.contains(command.trim()),
            "the README does not have `{command}`"
        );
    }
    let tests = cargo(&project, &["test", "--quiet"]).code(0);
    assert!(tests.out.contains("3 passed"), "{}", tests.out);
    let asked = cargo(&project, &["run", "--quiet", "--", COMPLAINT]).code(0);
    assert!(
        asked.out.contains("waits for a decision") && asked.out.contains("cargo run -- yes"),
        "{}",
        asked.out
    );
    // Nothing is paid before the decision, which another process gives.
    assert!(!asked.out.contains("paid"), "{}", asked.out);
    let paid = cargo(&project, &["run", "--quiet", "--", "yes"]).code(0);
    assert_eq!(paid.out.trim_end(), "order A-17 is paid back");
    let done = cargo(&project, &["run", "--quiet", "--", "yes"]).code(0);
    assert!(done.out.contains("Nothing waits"), "{}", done.out);
}

#[test]
fn f45_a_flow_in_rust_builds_and_its_question_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = new_project("desk-requests --template rust-flow", folder.path()).code(0);
    assert!(
        made.err.ends_with("  cargo run -- answer A-1 yes\n"),
        "{}",
        made.err
    );
    let project = folder.path().join("desk-requests");
    let tests = cargo(&project, &["test", "--quiet"]).code(0);
    assert!(tests.out.contains("4 passed"), "{}", tests.out);
    let asked = cargo(&project, &["run", "--quiet", "--", "ask", "A-1", "a chair"]).code(0);
    assert!(!asked.out.contains("sent"), "{}", asked.out);
    let sent = cargo(&project, &["run", "--quiet", "--", "answer", "A-1", "yes"]).code(0);
    assert_eq!(sent.out, "done: [\"sent: Please order a chair.\"]\n");
}

/// A user of published crates gets those of the version of the program.
#[test]
fn f45_a_project_has_the_version_of_the_program_and_no_placeholder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let version = env!("CARGO_PKG_VERSION");
    let (line, _) = version
        .rsplit_once('.')
        .expect("a version has a patch number");
    for template in ["rust-agent", "rust-flow"] {
        shell(
            &format!("petalflow new it-{template} --template {template}"),
            folder.path(),
        )
        .code(0);
        let project = folder.path().join(format!("it-{template}"));
        let manifest = std::fs::read_to_string(project.join("Cargo.toml")).expect("it was written");
        assert!(!manifest.contains("patch"), "{manifest}");
        let crates: Vec<&str> = manifest
            .lines()
            .filter(|it| it.starts_with("petalflow"))
            .collect();
        assert!(crates.len() > 2, "{manifest}");
        for line_of_crate in crates {
            assert!(
                line_of_crate.contains(&format!("\"{line}\"")),
                "{line_of_crate}, and not {line}"
            );
        }
        for file in ["Cargo.toml", "README.md", "src/lib.rs", "src/main.rs"] {
            let text = std::fs::read_to_string(project.join(file)).expect("it was written");
            assert!(!text.contains("{{"), "{template}/{file} has a placeholder");
        }
    }
}

#[test]
fn f45_a_project_that_cannot_be_made_says_why() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (line, code, message, hint) in [
        (
            "fn --template rust-agent",
            64,
            "`fn` is no name for a package of Rust: it is a keyword",
            "`my-fn`",
        ),
        (
            "test --template rust-flow",
            64,
            "the compiler or cargo uses this name",
            "`my-test`",
        ),
        (
            "serde_json --template rust-agent",
            64,
            "the project depends on the crate `serde_json`",
            "`my-",
        ),
        (
            "1x --template rust-agent",
            64,
            "`1x` is no name for a project",
            "begin with a letter",
        ),
        ("a --template rust", 64, "rust-agent", ""),
        (
            "a --source .",
            64,
            "`--source` is for projects in Rust, and `graph` is none",
            "--template rust-agent",
        ),
        (
            "a --template rust-agent --source .",
            3,
            "`.` has no crate `petalflow`",
            "a clone of the repository",
        ),
        (
            "a --template rust-agent --source nowhere",
            3,
            "`nowhere` cannot be read",
            "",
        ),
    ] {
        let ran = shell(&format!("petalflow new {line}"), folder.path()).code(code);
        assert!(
            ran.err.contains(message) && ran.err.contains(hint),
            "{line}: {}",
            ran.err
        );
        assert!(!folder.path().join("a").exists(), "{line}");
    }
    shell("petalflow new a/b/c --template rust-agent", folder.path()).code(0);
    let again = shell("petalflow new a/b/c --template rust-agent", folder.path()).code(3);
    assert!(again.err.contains("`a/b/c` exists"), "{}", again.err);
    // A file in the place of a folder: root may write everywhere, so a test cannot count on permissions.
    std::fs::write(folder.path().join("file"), "").expect("the file can be written");
    let ran = shell("petalflow new file/letters", folder.path()).code(3);
    assert!(ran.err.contains("`file` cannot be written"), "{}", ran.err);
}
