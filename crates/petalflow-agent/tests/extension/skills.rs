//! Skills: folders of instructions, files and scripts.

use std::fs;
use std::path::Path;

use petalflow::checkpoint::InMemoryStore;
use petalflow::{BoxError, Context, async_trait};
use petalflow_agent::extension::{CodeExecutor, CodeOutput};
use petalflow_agent::skills::{Skill, SkillError, Skills};
use petalflow_llm::{ChatMessage, LlmRequest, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::scripted_agent;

const MAIN: &str = "---\nname: refunds\ndescription: >\n  Pays orders back.\n  Use it when a customer wants money.\nlicense: MIT\nmetadata:\n  author: shop\n---\n\n# Refunds\n\nRead `references/limits.md` first.\n";

/// A folder with the skill `refunds`.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "refunds/SKILL.md", MAIN);
    write(
        dir.path(),
        "refunds/references/limits.md",
        "At most 50 euros.",
    );
    write(dir.path(), "refunds/scripts/sum.py", "print(sum)");
    write(dir.path(), "refunds/scripts/sum.rb", "puts 1");
    write(dir.path(), "refunds/.git/config", "hidden");
    write(
        dir.path(),
        "greetings/SKILL.md",
        "---\nname: greetings\ndescription: Says hello.\n---\nSay hello.",
    );
    write(dir.path(), ".cache/file", "hidden");
    dir
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The results that the model reads, in order.
fn results(request: &LlmRequest) -> Vec<Value> {
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}

fn tools(request: &LlmRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

/// Returns the code that it gets.
struct Echo;

#[async_trait]
impl CodeExecutor for Echo {
    async fn execute(&self, code: &str, _: &Context) -> Result<CodeOutput, BoxError> {
        Ok(if code.contains("fail") {
            CodeOutput::failed("NameError")
        } else {
            CodeOutput::printed(code)
        })
    }
}

#[tokio::test]
async fn f44_a_skill_is_read_when_it_is_needed() {
    let dir = folder();
    let load = |skill: &str| Reply::call("load_skill", json!({ "skill": skill }));
    let read = |file: &str| {
        Reply::call(
            "load_skill_resource",
            json!({ "skill": "refunds", "file": file }),
        )
    };
    let replies = [
        load("refunds"),
        read("references/limits.md"),
        load("refund"),
        read("../../secret"),
        read(".git/config"),
        "done".into(),
    ];
    let (agent, model) = scripted_agent(replies);
    let agent = agent
        .instructions("You help.")
        .skills(Skills::from_folder(dir.path()).unwrap());
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    let talk = thread
        .run("My order was late.")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "done");
    let requests = model.requests();
    assert_eq!(tools(&requests[0]), ["load_skill", "load_skill_resource"]);
    assert_eq!(
        requests[0].system.as_deref(),
        Some(
            "You help.\n\nYou have skills: instructions for some kinds of tasks. If a task fits one of them, call \
             `load_skill` with its name before you begin, and do as it says.\n\n- greetings: Says hello.\n\
             - refunds: Pays orders back. Use it when a customer wants money."
        )
    );
    let read = results(&requests[5]);
    assert_eq!(
        read[0],
        json!({
            "files": ["references/limits.md", "scripts/sum.py", "scripts/sum.rb"],
            "instructions": "# Refunds\n\nRead `references/limits.md` first."
        })
    );
    assert_eq!(read[1], json!({ "text": "At most 50 euros." }));
    assert_eq!(
        read[2],
        json!({ "error": "there is no skill `refund`; the skills are: greetings, refunds" })
    );
    for (result, file) in read[3..].iter().zip(["../../secret", ".git/config"]) {
        let problem = format!(
            "the skill has no file `{file}`; its files: references/limits.md, scripts/sum.py, scripts/sum.rb"
        );
        assert_eq!(*result, json!({ "error": problem }));
    }
}

#[tokio::test]
async fn f44_scripts_run_only_with_the_executor_of_the_program() {
    let dir = folder();
    let run = |script: &str, arguments: Value| {
        Reply::call(
            "run_skill_script",
            json!({ "skill": "refunds", "script": script, "arguments": arguments }),
        )
    };
    let replies = || {
        [
            run("scripts/sum.py", json!(["1", "2"])),
            run("scripts/sum.py", json!(["fail"])),
            run("scripts/sum.rb", json!([])),
            "done".into(),
        ]
    };
    let (agent, model) = scripted_agent(replies());
    let skills = Skills::from_folder(dir.path()).unwrap();
    agent
        .skills(skills.clone().scripts(Echo))
        .run("hello")
        .await
        .unwrap();
    let requests = model.requests();
    assert_eq!(
        tools(&requests[0]),
        ["load_skill", "load_skill_resource", "run_skill_script"]
    );
    let ran = results(&requests[3]);
    let code = "import sys; sys.argv = [\"scripts/sum.py\",\"1\",\"2\"]\nprint(sum)";
    assert_eq!(ran[0], json!({ "output": code }));
    assert_eq!(ran[1], json!({ "error": "NameError" }));
    assert_eq!(
        ran[2],
        json!({ "error": "the script `scripts/sum.rb` cannot be run: the program runs only `python`" })
    );

    let (agent, model) = scripted_agent(replies());
    agent.skills(skills).run("hello").await.unwrap();
    let refused = &results(&model.requests()[1])[0]["error"];
    assert!(
        refused
            .as_str()
            .unwrap()
            .contains("tool 'run_skill_script' not found")
    );
}

#[tokio::test]
async fn f44_files_that_are_no_text_or_too_large_are_not_read() {
    let dir = folder();
    fs::write(dir.path().join("refunds/logo.png"), [0x89, b'P', 0xff]).unwrap();
    write(dir.path(), "refunds/large.md", &"x".repeat(256 * 1024 + 1));
    let read = |file: &str| {
        Reply::call(
            "load_skill_resource",
            json!({ "skill": "refunds", "file": file }),
        )
    };
    let (agent, model) = scripted_agent([read("logo.png"), read("large.md"), "done".into()]);
    agent
        .skills(Skills::from_folder(dir.path()).unwrap())
        .run("hello")
        .await
        .unwrap();
    let read = results(&model.requests()[2]);
    assert_eq!(
        read[0],
        json!({ "error": "the file `logo.png` is no text" })
    );
    assert_eq!(
        read[1],
        json!({ "error": "the file `large.md` has 262145 bytes, and at most 262144 are read" })
    );
}

#[test]
fn f44_a_skill_that_is_wrong_is_an_error_at_the_start_of_the_program() {
    let front = |fields: &str| format!("---\n{fields}\n---\nDo it.");
    for (main, problem) in [
        (
            "Do it.".into(),
            "`SKILL.md` does not begin with a line `---`: begin it with `---`, `name`, `description` and `---`",
        ),
        (
            "---\nname: a".into(),
            "the start of `SKILL.md` has no end: add a line `---` after the description",
        ),
        (
            front("name: other\ndescription: Pays."),
            "its name is `other`, and its folder is `refunds`: give both the same name",
        ),
        (
            front("name: refunds\ndescription: ''"),
            "the `description` is empty: say what the skill does, and when to use it",
        ),
        (
            front(&format!("name: refunds\ndescription: {}", "x".repeat(1025))),
            "the `description` has 1025 characters: the format allows 1024",
        ),
    ] {
        let error = Skill::embedded("refunds", [("SKILL.md", main)]).unwrap_err();
        assert_eq!(error.to_string(), format!("skill `refunds`: {problem}"));
    }
    for name in [
        "Refunds",
        "re--funds",
        "-refunds",
        "refunds-",
        "re funds",
        "re_funds",
        "",
    ] {
        let main = front(&format!("name: '{name}'\ndescription: Pays."));
        let error = Skill::embedded(name, [("SKILL.md", main)]).unwrap_err();
        assert!(
            error.to_string().contains("only lower-case letters"),
            "{error}"
        );
    }
    let long = "x".repeat(65);
    let error = Skill::embedded(
        &long,
        [(
            "SKILL.md",
            front(&format!("name: {long}\ndescription: Pays.")),
        )],
    );
    assert!(error.unwrap_err().to_string().contains("65 characters"));
    let error =
        Skill::embedded("refunds", [("SKILL.md", front("description: Pays."))]).unwrap_err();
    assert!(
        error.to_string().contains("missing field `name`"),
        "{error}"
    );
    let none: [(&str, &str); 0] = [];
    let error = Skill::embedded("refunds", none).unwrap_err();
    assert_eq!(
        error.to_string(),
        "skill `refunds`: it has no file `SKILL.md`"
    );

    let dir = folder();
    let skill = || Skill::from_folder(dir.path().join("refunds")).unwrap();
    let error = Skills::new()
        .with(skill())
        .unwrap()
        .with(skill())
        .unwrap_err();
    assert!(matches!(error, SkillError::Duplicate(name) if name == "refunds"));
    let error = Skills::from_folder(dir.path().join("refunds/references")).unwrap_err();
    assert!(matches!(error, SkillError::NoSkills(_)), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("has no folder with a file `SKILL.md`: each skill is such a folder")
    );
    let error = Skills::from_folder(dir.path().join("missing")).unwrap_err();
    assert!(
        error.to_string().ends_with("missing` cannot be read"),
        "{error}"
    );
    write(dir.path(), "empty/README.md", "nothing");
    let error = Skills::from_folder(dir.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("empty/SKILL.md` cannot be read"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn f44_a_skill_has_no_files_outside_of_its_folder() {
    let dir = folder();
    write(dir.path(), ".secret", "key");
    std::os::unix::fs::symlink(
        dir.path().join(".secret"),
        dir.path().join("refunds/secret"),
    )
    .unwrap();
    let error = Skills::from_folder(dir.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "skill `refunds`: `secret` is a link: put the file itself into the skill, since files outside of it are not read"
    );
}
