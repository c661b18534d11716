//! What the recorded compile errors of `tests/ui` say: the mistake and at most two further errors, and no name of generated code.

use std::path::{Path, PathBuf};

use crate::{report, workspace};

/// Names of the runtime for generated code, which say nothing to a user. So does each name that begins with `__`.
const HIDDEN: &[&str] = &[
    "Checked",
    "DefaultFor",
    "FunctionArm",
    "Given",
    "Holds",
    "KeyFunctions",
    "KeyType",
    "Lacks",
    "Proven",
    "ValueArm",
];

/// The standard library in a record. rustc shows its lines where the component `rust-src` is installed, and a note elsewhere.
const LIBRARY: &str = "$RUST/";

/// How many errors a program with one mistake may have.
const MOST: usize = 3;

/// The programs with more errors, and why.
const MORE: &[(&str, &str)] = &[
    (
        "conversation/fail/handlers_not_shared",
        "rustc reports the future of each handler",
    ),
    (
        "conversation/fail/handlers_with_an_rc",
        "rustc reports the future of each handler",
    ),
    (
        "flow/fail/in_an_impl_block",
        "rustc refuses each item in an `impl` block, and does not find its name",
    ),
    ("flow/fail/pf025_value_named_as_node", "four mistakes"),
    (
        "flow/fail/state_without_attribute",
        "each of four nodes names the state",
    ),
    (
        "flow/fail/two_flows_of_one_name",
        "rustc reports everything that is generated for both",
    ),
    (
        "flow/fail/value_not_shared",
        "two flows have the value, and its future is not `Send`",
    ),
    (
        "flow/fail/with_a_value_in_an_impl_block",
        "rustc refuses each item in an `impl` block, and does not find its name",
    ),
    ("node/fail/extractors", "four mistakes"),
    (
        "node/fail/function_in_an_impl_block",
        "rustc refuses each item in an `impl` block, and does not find its name",
    ),
    ("node/fail/several_mistakes", "four mistakes"),
    (
        "route/fail/two_of_one_name",
        "rustc reports everything that is generated for both",
    ),
    (
        "state/fail/generic_with_a_flow",
        "two nodes and two flows name the state",
    ),
    ("state/fail/option_in_parentheses", "four mistakes"),
    (
        "state/fail/two_of_one_name",
        "rustc reports everything that is generated for both",
    ),
    (
        "tool/fail/function_in_an_impl_block",
        "rustc refuses each item in an `impl` block, and does not find its name",
    ),
    (
        "tool/fail/two_of_one_name",
        "rustc reports everything that is generated for both",
    ),
];

/// The programs with two items of one name. rustc reports the name first, and then what is generated for both, with its names.
const TWO_OF_ONE_NAME: &[&str] = &[
    "ask/fail/two_of_one_name",
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
fn at_most_two_errors_follow_the_first() {
    let mut errors = Vec::new();
    let records = records();
    for (name, text) in &records {
        let lines = text.lines();
        let count = lines.filter(|line| line.starts_with("error")).count();
        let is_listed = MORE.iter().any(|(file, _)| file == name);
        if count == 0 {
            errors.push(format!("tests/ui/{name}.stderr has no error"));
        }
        if count > MOST && !is_listed {
            errors.push(format!(
                "tests/ui/{name}.stderr has {count} errors, more than {MOST}: if that is meant, say why in `MORE` in \
                 tests/tidy/messages.rs"
            ));
        }
        if count <= MOST && is_listed {
            errors.push(format!(
                "tests/ui/{name}.stderr has {count} errors: remove it from `MORE`"
            ));
        }
    }
    for (file, _) in MORE {
        if !records.iter().any(|(name, _)| name == file) {
            errors.push(format!(
                "tests/ui/{file}.stderr is not there: remove it from `MORE`"
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
            for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
                // rustc draws lines with `_`.
                let is_generated = word.starts_with("__") && word.contains(char::is_alphabetic);
                if is_generated || HIDDEN.contains(&word) {
                    errors.push(format!(
                        "tests/ui/{name}.stderr:{}: `{word}` is a name of generated code",
                        line + 1
                    ));
                }
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
