//! Every option is on a page: those of macros and of launches on `docs/reference/macros.md`, whose tables are made from the
//! documentation of the code, and those of node kinds in `docs/guide/node-kinds.md`.
//!
//! `PETALFLOW_BLESS=1 cargo test -p petalflow-tidy options` writes the tables.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::{report, workspace};

const PAGE: &str = "docs/reference/macros.md";
/// The folder with the documentation of attributes and derives.
const MACROS: &str = "petalflow-macros/docs";
const FLOW: &str = "petalflow/src/macros.rs";
/// The documentation of `Partial`.
const PARTIAL: &str = "petalflow/src/tool/partial.rs";
/// The folder with the methods of `Launch`.
const LAUNCH: &str = "petalflow/src/launch";

/// The table of a macro, the file with the names of its options, and what is before them there.
const NAMES: [(&str, &str, &str); 6] = [
    (
        "key",
        "petalflow-macros/src/state/model.rs",
        "const OPTIONS: &[&str] = &[",
    ),
    ("state", "petalflow-macros/src/state/ast.rs", "Seen::new(&["),
    (
        "node",
        "petalflow-macros/src/node/ast.rs",
        "const OPTIONS: &[&str] = &[",
    ),
    (
        "tool",
        "petalflow-macros/src/tool/ast.rs",
        "const OPTIONS: &[&str] = &[",
    ),
    (
        "ask",
        "petalflow-macros/src/ask/ast.rs",
        "const OPTIONS: [&str; 6] = [",
    ),
    (
        "with",
        "petalflow-macros/src/flow/check.rs",
        "const NODE_OPTIONS: [&str; 6] = [",
    ),
];

/// The tables beside those of options: the name on the page, the file, and the head.
const TABLES: [(&str, &str, &str); 4] = [
    (
        "parameters of nodes",
        "petalflow-macros/docs/node.md",
        "| parameter | value |",
    ),
    (
        "return types of nodes",
        "petalflow-macros/docs/node.md",
        "| return type | effect |",
    ),
    (
        "parameters of tools",
        "petalflow-macros/docs/tool.md",
        "| parameter of a tool | value |",
    ),
    ("partial", PARTIAL, "| option | meaning |"),
];

/// The attributes of parameters, the file that reads them, and the table that has them.
const ATTRIBUTES: [(&str, &str, usize); 3] = [
    ("item", "petalflow-macros/src/node/ast.rs", 0),
    ("key", "petalflow-macros/src/node/ast.rs", 0),
    ("run", "petalflow-macros/src/tool/model.rs", 2),
];

#[test]
fn the_page_of_options_has_those_of_the_code() {
    let page = read(PAGE);
    let mut written = page.clone();
    for name in ["key", "state", "node", "route", "ask", "tool"] {
        written = with_table(&written, name, &documented(name));
    }
    for (name, file, head) in TABLES {
        written = with_table(&written, name, &table(file, &[head]));
    }
    written = with_table(&written, "with", &statements());
    written = with_table(&written, "launch", &methods());
    if std::env::var_os("PETALFLOW_BLESS").is_some() {
        std::fs::write(workspace::root().join(PAGE), &written).expect("the page is writable");
    } else {
        assert!(
            written == page,
            "{PAGE} does not have the options of the code: run `PETALFLOW_BLESS=1 cargo test -p petalflow-tidy options`"
        );
    }
}

#[test]
fn every_option_of_a_macro_is_in_its_table() {
    let mut errors = Vec::new();
    for (macro_name, file, before) in NAMES {
        let table = match macro_name {
            "with" => statements(),
            _ => documented(macro_name),
        };
        let source = read(file);
        let (_, list) = source
            .split_once(before)
            .unwrap_or_else(|| panic!("{file} has no `{before}`"));
        let (list, _) = list.split_once(']').expect("the list ends");
        let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert!(names.len() > 2, "{file}: {names:?}");
        for name in names {
            if !has_word(&table, name) {
                errors.push(format!(
                    "{file}: the option `{name}` is not in the documentation of `{macro_name}`"
                ));
            }
        }
    }
    report(&errors);
}

#[test]
fn every_attribute_of_a_parameter_is_in_its_table() {
    for (name, file, at) in ATTRIBUTES {
        assert!(
            read(file).contains(&format!("attr.path().is_ident(\"{name}\")")),
            "{file} does not read `#[{name}]`: correct the list of this test"
        );
        let (table_name, documentation, head) = TABLES[at];
        assert!(
            table(documentation, &[head]).contains(&format!("`#[{name}")),
            "{documentation}: the table of the {table_name} does not have `#[{name}]`"
        );
    }
}

#[test]
fn every_option_of_partial_is_in_its_table() {
    let documented = table(PARTIAL, &[TABLES[3].2]);
    let source = read("petalflow-macros/src/partial/ast.rs");
    // The errors of unknown options list the options.
    let errors = source
        .lines()
        .filter(|line| line.contains("unknown option:"));
    let options = errors.flat_map(|line| line.split('`').skip(1).step_by(2));
    let options: BTreeSet<&str> = options
        .map(|option| option.split([' ', '(']).next().unwrap_or(option))
        .collect();
    assert_eq!(options.len(), 4, "{options:?}");
    let missing: Vec<String> = options
        .iter()
        .filter(|option| !has_word(&documented, option))
        .map(|option| format!("{PARTIAL}: the table of options does not have `{option}`"))
        .collect();
    report(&missing);
}

#[test]
fn every_setting_of_a_node_kind_is_on_its_page() {
    let file = "crates/petalflow-document-model/schemas/node-settings/v1.json";
    let kinds: Value = serde_json::from_str(&read(file)).expect("the schemas are JSON");
    let page = read("docs/guide/node-kinds.md");
    let mut errors = Vec::new();
    for (kind, schema) in kinds.as_object().expect("a schema for each kind") {
        let heading = format!("\n## {kind}\n");
        let section = page.split_once(&heading).map(|(_, section)| section);
        let section = section
            .and_then(|section| section.split("\n## ").next())
            .unwrap_or_default();
        let mut names = BTreeSet::new();
        collect(schema, &mut names);
        for name in names.into_iter().filter(|name| !has_word(section, name)) {
            errors.push(format!(
                "docs/guide/node-kinds.md: the section `{kind}` does not name `{name}`"
            ));
        }
    }
    report(&errors);
}

/// A page, a file with names, and what is before and after each name on its line there.
const OPERATORS: [(&str, &str, &str, &str); 3] = [
    (
        "docs/guide/templates.md",
        "crates/petalflow-document-model/src/documents/template/functions.rs",
        "(\"",
        "\", F::",
    ),
    (
        "docs/guide/templates.md",
        "crates/petalflow-document-model/src/expression/parser.rs",
        "\"",
        "\" => BinaryOp::",
    ),
    (
        "docs/guide/conversations.md",
        "crates/petalflow-document-model/src/conversations/decision/operator.rs",
        "#[serde(rename = \"",
        "\")]",
    ),
];

#[test]
fn every_operator_and_function_is_on_its_page() {
    let mut errors = Vec::new();
    for (page, file, before, after) in OPERATORS {
        let text = read(page);
        let source = read(file);
        let names = source.lines().filter_map(|line| {
            let (name, _) = line.trim().strip_prefix(before)?.split_once(after)?;
            Some(name)
        });
        let names: BTreeSet<&str> = names.collect();
        assert!(names.len() > 5, "{file}: {names:?}");
        for name in names {
            // In a table of Markdown, `|` is `\|`.
            if !code(&text).contains(&*name.replace('|', "\\|")) {
                errors.push(format!("{page}: `{name}` of {file} is not on the page"));
            }
        }
    }
    report(&errors);
}

/// What is between back quotes, and the words of it.
fn code(text: &str) -> BTreeSet<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .flat_map(|code| code.split_whitespace().chain([code]))
        .collect()
}

/// The names of settings and of their fixed values.
fn collect<'s>(schema: &'s Value, names: &mut BTreeSet<&'s str>) {
    match schema {
        Value::Object(fields) => {
            for (field, value) in fields {
                match (&**field, value) {
                    ("properties", Value::Object(properties)) => {
                        names.extend(properties.keys().map(|name| &**name));
                    }
                    ("const", Value::String(name)) => drop(names.insert(name)),
                    ("enum", Value::Array(values)) => {
                        names.extend(values.iter().filter_map(Value::as_str));
                    }
                    _ => {}
                }
                collect(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// The table of options in the documentation of a macro.
fn documented(name: &str) -> String {
    let heads = [
        format!("| `#[{name}(..)]` |"),
        format!("| `#[{name}(Essay, ..)]` |"),
    ];
    // The keys of a state have no attribute of their own.
    let file = if name == "key" { "state" } else { name };
    table(&format!("{MACROS}/{file}.md"), &heads)
}

/// The table in the documentation of a file that begins with one of these heads.
fn table(file: &str, heads: &[impl AsRef<str>]) -> String {
    let source = read(file);
    let lines = source
        .lines()
        .map(|line| line.strip_prefix("/// ").unwrap_or(line))
        .skip_while(|line| !heads.iter().any(|head| line.starts_with(head.as_ref())));
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.fold(String::new(), |table, row| table + row + "\n")
}

/// The statements `with` in the documentation of `flow!`.
fn statements() -> String {
    let source = read(FLOW);
    let rows = source
        .lines()
        .filter_map(|line| line.strip_prefix("/// | `with "));
    rows.fold(
        String::from("| statement | meaning |\n| --- | --- |\n"),
        |table, row| table + "| `with " + &without_links(row) + "\n",
    )
}

/// The methods of `Launch` that set something, with the first sentence of each.
fn methods() -> String {
    let mut table = String::from("| method | meaning |\n| --- | --- |\n");
    let folder = workspace::root().join(LAUNCH).read_dir();
    let mut files: Vec<String> = folder
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder is readable").file_name())
        .map(|name| format!("{LAUNCH}/{}", name.display()))
        .collect();
    files.sort();
    for file in &files {
        let mut sentence = None;
        for line in read(file).lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("/// ") {
                sentence.get_or_insert_with(|| text.to_owned());
            } else if let Some(name) = line.strip_prefix("pub fn ") {
                let name = name.split(['(', '<']).next().unwrap_or(name);
                let text = without_links(sentence.take().as_deref().unwrap_or_default());
                let text = text
                    .split_once(". ")
                    .map_or(&*text, |(first, _)| first)
                    .trim_end_matches('.');
                if name != "new" && !text.is_empty() {
                    let _ = writeln!(table, "| `{name}()` | {text} |");
                }
            } else if !line.starts_with("///") && !line.starts_with("#[") {
                sentence = None;
            }
        }
    }
    table
}

/// The page with this table between its marks.
fn with_table(page: &str, name: &str, table: &str) -> String {
    assert!(
        table.lines().count() > 2,
        "the documentation of `{name}` has no table"
    );
    let begin = format!("<!-- table: {name} -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{PAGE} has no table `{name}`"));
    let (_, after) = rest
        .split_once("<!-- end -->")
        .expect("the mark has an end");
    format!("{before}{begin}\n{table}\n<!-- end -->{after}")
}

/// The text of links in place of links: their targets are paths of Rust.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let (label, after) = after.split_once(']').unwrap_or((after, ""));
        let target = after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'));
        match target {
            Some((_, after)) => {
                plain.push_str(label);
                rest = after;
            }
            None if label.starts_with('`') => {
                plain.push_str(label);
                rest = after;
            }
            // A list, such as `[.., ..]`.
            None => {
                let _ = write!(plain, "[{label}]");
                rest = after;
            }
        }
    }
    plain + rest
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

fn read(file: &str) -> String {
    std::fs::read_to_string(workspace::root().join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}
