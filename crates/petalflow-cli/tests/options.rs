//! Options of PetalFlow's program, and messages in the words of the command line.

use crate::program::{document, file, folder, petalflow};

const SLOW: &str = "
id: slow
version: '1.0'
kind: graph
nodes:
  - { id: work, type: wait, config: {} }
edges: []
";

#[cfg(unix)]
#[test]
fn f45_a_node_that_takes_too_long_fails() {
    let folder = folder();
    let graph = file(&folder, "slow.yaml", SLOW);
    // The tool waits for a file that nobody writes.
    let wait = file(
        &folder,
        "wait.sh",
        "while ! [ -e \"$1\" ]; do sleep 0.1; done",
    );
    let ran =
        petalflow!("run {graph} --node-timeout 200ms --tool \"wait=sh '{wait}' '{wait}.never'\"")
            .code(2);
    assert!(
        ran.err.contains("node `work` took longer than 200ms"),
        "{}",
        ran.err
    );
}

#[cfg(unix)]
#[test]
fn f45_variables_of_the_environment_reach_tools() {
    let folder = folder();
    let graph = file(&folder, "slow.yaml", SLOW);
    let print = file(
        &folder,
        "print.sh",
        "echo \"{\\\"a\\\": \\\"$PF_A\\\", \\\"b\\\": \\\"$PF_B\\\"}\"",
    );
    let ran = petalflow!(
        "run {graph} --env PF_A=one --env=PF_B=two=2 --tool \"wait=sh '{print}'\" --format json"
    )
    .code(0);
    let vars = ran.json()["vars"].to_string();
    assert!(
        vars.contains("\"one\"") && vars.contains("\"two=2\""),
        "{vars}"
    );
    let ran = petalflow!("run {graph} --env PF_A").code(64);
    assert!(ran.err.contains("write `NAME=VALUE`"), "{}", ran.err);
}

#[test]
fn f45_diagnostics_have_the_format_of_petalflows_program() {
    let wrong = document("wrong.graph.json");
    let list = petalflow!("validate --json {wrong}").code(1);
    let format = petalflow!("validate --format json {wrong}").code(1);
    assert!(list.json().as_array().is_some_and(|list| !list.is_empty()));
    assert_eq!(list.out, format.out);
    let text = petalflow!("validate --format text {wrong}").code(1);
    assert_eq!(text.out, petalflow!("validate {wrong}").code(1).out);
}

#[test]
fn f45_advice_is_about_options() {
    let folder = folder();
    let graph = file(&folder, "slow.yaml", SLOW);
    let func = file(
        &folder,
        "func.yaml",
        &SLOW.replace("type: wait", "type: func"),
    );
    for line in [
        format!("run {func}"),
        format!("dev {func} --listen 127.0.0.1:0"),
    ] {
        let ran = petalflow!("{line}").code(5);
        assert!(
            ran.err.contains("`--tool NODE=COMMAND`"),
            "{line}: {}",
            ran.err
        );
        assert!(!ran.err.contains("Services::"), "{line}: {}", ran.err);
    }
    let ran = petalflow!("run {graph}").code(1);
    assert!(!ran.err.contains("Services::"), "{}", ran.err);
}

#[test]
fn f45_doctor_says_what_is_missing_and_prints_no_key() {
    let folder = folder();
    let graph = file(
        &folder,
        "func.yaml",
        &SLOW.replace("type: wait", "type: func"),
    );
    let store = crate::program::path(&folder, "runs.db");
    let ran = crate::program::Ran::from_output(
        &crate::program::program()
            .args(["doctor", &graph, "--store", &store, "--json"])
            .env("OPENAI_API_KEY", "sk-hidden")
            .output()
            .expect("the program starts"),
    )
    .code(8);
    assert!(!ran.out.contains("sk-hidden") && !ran.err.contains("sk-hidden"));
    let list = ran.json();
    let state = |name: &str, text: &str| {
        let mut list = list.as_array().expect("a list").iter();
        list.find(|it| {
            it["name"] == name && it["text"].as_str().is_some_and(|it| it.contains(text))
        })
        .unwrap_or_else(|| panic!("{name}: {text}: {}", ran.out))["state"]
            .clone()
    };
    assert_eq!(state("keys", "OPENAI_API_KEY"), "ok");
    assert_eq!(state("store", "there is no store"), "missing");
    assert_eq!(state(&graph, "--tool work=COMMAND"), "missing");
    let ran = petalflow!("doctor {graph} --tool work=true").code(0);
    assert!(ran.out.contains("it is valid"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn f45_a_new_project_passes_its_test() {
    let folder = folder();
    let ran = crate::help::shell("petalflow new letters && letters/test.sh", folder.path()).code(0);
    assert!(
        ran.out.contains("the test of letters passed"),
        "{}",
        ran.out
    );
    let ran = crate::help::shell("petalflow new letters", folder.path()).code(3);
    assert!(ran.err.contains("`letters` exists"), "{}", ran.err);
    let ran = crate::help::shell("petalflow new 1x", folder.path()).code(64);
    assert!(ran.err.contains("begin with a letter"), "{}", ran.err);
}
