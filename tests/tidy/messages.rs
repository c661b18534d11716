//! What the recorded compile errors of `tests/ui` say: one error per mistake, and no name of generated code.

use std::path::{Path, PathBuf};

use crate::{report, workspace};

/// A word that says nothing to a user. The second part is why.
const HIDDEN: &[(&str, &str)] = &[
    ("__private", "the module is for generated code"),
    ("__petalflow", "an alias in generated code"),
    ("'__", "a lifetime in generated code"),
    ("SharedFor", "a bound in generated code"),
    ("DebugFor", "a bound in generated code"),
    ("StateFor", "a bound in generated code"),
    ("`Held`", "the message says what the key lacks"),
    ("`Given<", "the message says which node value is missing"),
];

/// The standard library in a record. rustc shows its lines where the component `rust-src` is installed, and a note elsewhere.
const LIBRARY: &str = "$RUST/";

/// The programs with several errors: how many, and why.
const SEVERAL: &[(&str, usize, &str)] = &[
    (
        "flow/fail/subflow_is_no_flow",
        2,
        "with incremental compilation, rustc also reports what the sub-flow returns",
    ),
    ("conversation/fail/document_two_mistakes", 2, "two mistakes"),
    (
        "conversation/fail/handlers_with_an_rc",
        2,
        "rustc reports `Send` and `Sync`, which are two traits",
    ),
    (
        "conversation/fail/own_type_of_another_name",
        2,
        "rustc reports the name that the trait does not have, and the one that is missing",
    ),
    ("documents/fail/wrong_document", 3, "three mistakes"),
    ("flow/fail/generic_node", 2, "two mistakes"),
    ("flow/fail/half_typed_group", 2, "two mistakes"),
    ("flow/fail/item_by_value", 2, "two mistakes"),
    ("flow/fail/large_flow", 3, "three mistakes"),
    ("flow/fail/large_flow_far_apart", 3, "three mistakes"),
    ("flow/fail/names_in_a_broken_edge", 2, "two mistakes"),
    ("flow/fail/node_with_braces", 2, "two mistakes"),
    ("flow/fail/node_without_a_state", 2, "two mistakes"),
    ("flow/fail/pf003_declared_twice", 2, "both places"),
    ("flow/fail/pf004_edge_twice", 2, "both places"),
    ("flow/fail/pf004_match_twice", 2, "both places"),
    ("flow/fail/pf004_route_twice", 2, "both places"),
    ("flow/fail/pf013_bool", 2, "two mistakes"),
    ("flow/fail/pf024_flow_option", 3, "three mistakes"),
    (
        "flow/fail/pf003_path_and_its_last_segment",
        2,
        "two mistakes",
    ),
    ("flow/fail/pf024_id_not_a_text", 2, "two mistakes"),
    (
        "flow/fail/pf025_another_state_after_catch_and_arm",
        3,
        "three mistakes",
    ),
    ("flow/fail/pf025_path_of_another_state", 2, "two mistakes"),
    ("flow/fail/pf025_value_named_as_node", 4, "four mistakes"),
    ("flow/fail/pf026_caught_twice", 2, "both places"),
    ("flow/fail/misspelt_statement", 2, "two mistakes"),
    ("flow/fail/several_mistakes", 3, "three mistakes"),
    ("interrupt/fail/missing_node", 2, "two mistakes"),
    ("node/fail/default_of_a_parameter", 2, "two mistakes"),
    ("node/fail/deprecated", 2, "two uses"),
    ("node/fail/extractors", 4, "four mistakes"),
    ("node/fail/from_the_run_by_reference", 2, "two mistakes"),
    (
        "node/fail/item_not_shared",
        2,
        "where it is taken, and where it is sent",
    ),
    (
        "node/fail/named_like_a_module",
        2,
        "the node's own name then means the module",
    ),
    ("node/fail/managed_without_a_size", 2, "two mistakes"),
    ("node/fail/option_with_colon", 3, "three mistakes"),
    ("node/fail/several_mistakes", 4, "four mistakes"),
    ("state/fail/elided_lifetime", 3, "three mistakes"),
    ("state/fail/option_in_parentheses", 4, "four mistakes"),
    ("state/fail/option_of_option", 2, "two mistakes"),
    ("state/fail/reference", 2, "two mistakes"),
    ("state/fail/several_mistakes", 3, "three mistakes"),
    ("state/fail/unknown_type", 2, "two mistakes"),
    ("tool/fail/default_is_no_function", 2, "two mistakes"),
    ("tool/fail/references_inside", 2, "two mistakes"),
];

/// The programs with two items of one name. rustc reports the name first, and then everything that is generated for both.
const TWO_OF_ONE_NAME: &[&str] = &[
    "ask/fail/two_of_one_name",
    "flow/fail/named_like_a_key",
    "flow/fail/named_like_a_node",
    "flow/fail/two_flows_of_one_name",
    "node/fail/two_of_one_name",
    "route/fail/named_like_a_state",
    "route/fail/two_of_one_name",
    "state/fail/two_of_one_name",
    "tool/fail/named_like_a_node",
    "tool/fail/two_of_one_name",
];

#[test]
fn the_first_error_for_two_items_of_one_name_is_the_name() {
    let records = records();
    for name in TWO_OF_ONE_NAME {
        let record = records.iter().find(|(file, _)| file == name);
        let (_, text) = record.unwrap_or_else(|| panic!("tests/ui/{name}.stderr is not there"));
        assert!(
            text.starts_with("error[E0428]: the name "),
            "tests/ui/{name}.stderr"
        );
    }
}

#[test]
fn one_mistake_is_one_error() {
    let mut errors = Vec::new();
    let records = records();
    let single = |name: &&(String, String)| !TWO_OF_ONE_NAME.contains(&&*name.0);
    for (name, text) in records.iter().filter(single) {
        let count = text
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        let row = SEVERAL.iter().find(|(file, ..)| file == name);
        let expected = row.map_or(1, |(_, count, _)| *count);
        if count != expected {
            errors.push(format!(
                "tests/ui/{name}.stderr has {count} errors, not {expected}: if that is meant, say why in `SEVERAL` in tests/tidy/messages.rs"
            ));
        }
    }
    for (file, ..) in SEVERAL {
        if !records.iter().any(|(name, _)| name == file) {
            errors.push(format!(
                "tests/ui/{file}.stderr is not there: remove it from `SEVERAL`"
            ));
        }
    }
    report(&errors);
}

#[test]
fn messages_have_no_names_of_generated_code() {
    let mut errors = Vec::new();
    let records = records().into_iter();
    for (name, text) in records.filter(|(name, _)| !TWO_OF_ONE_NAME.contains(&&**name)) {
        // The path of a source file is not a name.
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, text)| !text.trim_start().starts_with("-->"));
        for (line, text) in lines {
            for (word, why) in HIDDEN.iter().filter(|(word, _)| text.contains(word)) {
                errors.push(format!(
                    "tests/ui/{name}.stderr:{}: `{word}`: {why}",
                    line + 1
                ));
            }
        }
    }
    report(&errors);
}

#[test]
fn messages_are_the_same_with_and_without_rust_src() {
    let mut errors = Vec::new();
    for (name, text) in records() {
        if let Some(line) = text.lines().position(|line| line.contains(LIBRARY)) {
            errors.push(format!(
                "tests/ui/{name}.stderr:{}: a place in the standard library, which reads differently with `rust-src`: \
                 let the mistake be about a type of the program",
                line + 1
            ));
        }
    }
    report(&errors);
}

/// The recorded errors: the name of each file without its ending, and its text.
fn records() -> Vec<(String, String)> {
    let ui = workspace::root().join("tests/ui");
    let mut files = Vec::new();
    for topic in entries(&ui) {
        files.extend(entries(&topic.join("fail")));
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "stderr"));
    files.sort();
    let record = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let name = file
            .strip_prefix(&ui)
            .expect("it is in the folder")
            .with_extension("");
        (name.display().to_string(), text)
    };
    files.into_iter().map(record).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    entries
        .map(|entry| entry.expect("the folder is readable").path())
        .collect()
}
