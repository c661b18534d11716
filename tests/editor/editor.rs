//! What rust-analyzer shows in a program that uses petalflow: names are found, renamed and completed in `flow!`.
//!
//! `library` has the part of the standard library that the macros' code needs, so that nothing is installed.

mod client;

use std::sync::{Mutex, PoisonError};

use petalflow_test_support::{Need, skip};
use serde_json::{Value, json};

use client::Client;

/// The program. Its names are written once in each place where a name can be.
const ESSAY: &str = include_str!("essay.rs");

/// One server for all tests, because it builds the macros when it starts.
static CLIENT: Mutex<Option<Client>> = Mutex::new(None);

/// Runs a test with the program open, if rust-analyzer is installed.
fn open(test: impl FnOnce(&mut Client)) {
    let mut client = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    if client.is_none() {
        *client = Client::start(ESSAY);
    }
    match &mut *client {
        Some(client) => {
            client.edit(ESSAY);
            test(client);
        }
        None => skip(
            Need::Installed,
            "rust-analyzer is missing: `rustup component add rust-analyzer`",
        ),
    }
}

/// The line and column of the `^` in this piece of the text.
fn caret_position(text: &str, place: &str) -> (usize, usize) {
    let caret = place.find('^').expect("the place has a caret");
    let found = text.find(&place.replace('^', ""));
    position(
        text,
        found.unwrap_or_else(|| panic!("no `{place}`")) + caret,
    )
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let lines = text[..offset].split('\n');
    let (line, last) = lines.enumerate().last().expect("there is a line");
    (line, last.len())
}

fn number(value: &Value) -> usize {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .expect("a number")
}

/// The offset of a position.
fn offset(text: &str, position: &Value) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(number(&position["line"]))
        .map(str::len)
        .sum();
    before + number(&position["character"])
}

/// The program after a rename at the caret.
fn rename(client: &mut Client, place: &str, name: &str) -> Result<String, String> {
    let edit = client.ask(
        "rename",
        caret_position(ESSAY, place),
        &json!({ "newName": name }),
    )?;
    let files = edit["documentChanges"].as_array().expect("edits by file");
    assert_eq!(files.len(), 1, "{place}: {edit}");
    let edits = files[0]["edits"].as_array().expect("a list of edits");
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| {
            let range =
                offset(ESSAY, &edit["range"]["start"])..offset(ESSAY, &edit["range"]["end"]);
            (
                range.start,
                range,
                edit["newText"].as_str().expect("a text"),
            )
        })
        .collect();
    edits.sort_by_key(|(start, ..)| *start);
    let mut text = ESSAY.to_owned();
    for (_, range, new) in edits.into_iter().rev() {
        text.replace_range(range, new);
    }
    Ok(text)
}

/// The text with another name in place of each occurrence of a whole word.
fn with_word(text: &str, word: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(found) = rest.find(word) {
        let (before, after) = (&rest[..found], &rest[found + word.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if whole { new } else { word });
        rest = after;
    }
    out + rest
}

/// Each of these places gives the same rename, of each occurrence of the word.
fn renames_everywhere(word: &str, new: &str, places: &[&str]) {
    open(|client| {
        let expected = with_word(ESSAY, word, new);
        for place in places {
            let renamed = rename(client, place, new);
            assert_eq!(renamed.as_deref(), Ok(&*expected), "renamed at `{place}`");
        }
    });
}

#[test]
fn a_node_is_renamed_in_every_statement() {
    let places = [
        "fn wri^te(",
        "START -> wri^te",
        "Revise => wri^te",
        "polish = wri^te",
        "with wri^te",
        "catch wri^te",
        "interrupt before wri^te",
        "let _ = wri^te(",
    ];
    renames_everywhere("write", "compose", &places);
}

#[test]
fn a_declared_node_is_renamed() {
    let places = ["node poli^sh", "-> poli^sh", "poli^sh -> END"];
    renames_everywhere("polish", "refine", &places);
}

#[test]
fn a_node_value_is_renamed_with_its_method() {
    let places = ["node sho^ut", "=> sho^ut", "sho^ut -> polish", ".sho^ut("];
    renames_everywhere("shout", "cry", &places);
}

#[test]
fn a_route_is_renamed_in_its_arms() {
    let places = ["Revi^se,", "Revi^se =>", "Verdict::Revi^se"];
    renames_everywhere("Revise", "Again", &places);
}

#[test]
fn a_flow_and_its_state_are_renamed() {
    let places = ["WriteEss^ay(Essay)", "WriteEss^ay::run"];
    renames_everywhere("WriteEssay", "Compose", &places);
    let places = ["struct Ess^ay", "WriteEssay(Ess^ay)", "#[node(Ess^ay)]"];
    renames_everywhere("Essay", "Text", &places);
}

/// A parameter names its key. What the body of a node calls its parameter stays: only the rename at the parameter has it.
#[test]
fn a_key_is_renamed_in_the_parameters() {
    open(|client| {
        let mut expected = ESSAY.to_owned();
        for (before, after) in [
            ("pub draft:", "pub text:"),
            ("(draft: &str)", "(text: &str)"),
            ("&self, draft: &str", "&self, text: &str"),
            ("|draft: &str|", "|text: &str|"),
        ] {
            expected = expected.replace(before, after);
        }
        let key = rename(client, "pub dra^ft: String", "text").expect("a key has a name");
        assert_eq!(key, expected);
        let expected = expected.replace("if draft.ends_with", "if text.ends_with");
        let parameter = rename(client, "critique(dra^ft: &str)", "text");
        assert_eq!(parameter.as_deref(), Ok(&*expected));
    });
}

/// The name of a generated type is made of other names. Renaming it would write its new name in their place.
#[test]
fn generated_types_are_not_renamed() {
    open(|client| {
        for place in ["-> EssayDra^ft {", "EssayInp^ut", "WriteEssayBuil^der"] {
            let renamed = rename(client, place, "Other");
            assert!(renamed.is_err(), "renamed at `{place}`: {renamed:?}");
        }
    });
}

/// What the server finds for a place: the file's end, and the text from the found name on.
fn definitions(client: &mut Client, place: &str) -> Vec<String> {
    let found = client.ask("definition", caret_position(ESSAY, place), &json!({}));
    let found = found.unwrap_or_else(|error| panic!("definition of `{place}`: {error}"));
    let found = found
        .as_array()
        .expect("a list of places")
        .iter()
        .map(|found| {
            let file = found["uri"]
                .as_str()
                .and_then(|uri| uri.strip_prefix("file://"));
            let text = std::fs::read_to_string(file.expect("a file")).expect("it can be read");
            let line = text[offset(&text, &found["range"]["start"])..]
                .lines()
                .next();
            line.unwrap_or_default().to_owned()
        });
    found.collect()
}

#[test]
fn a_name_leads_to_its_definition_and_nothing_else() {
    open(|client| {
        for (place, defined) in [
            ("START -> wri^te", "write(topic"),
            ("Revise => wri^te", "write(topic"),
            ("polish = wri^te", "write(topic"),
            ("with wri^te", "write(topic"),
            ("catch wri^te", "write(topic"),
            ("-> sor^ry", "sorry()"),
            ("before wri^te", "write(topic"),
            ("fn wri^te(", "write(topic"),
            ("critiq^ue -> match", "critique(draft"),
            ("Revi^se =>", "Revise,"),
            ("Publi^sh =>", "Publish,"),
            ("poli^sh -> END", "polish = write"),
            ("sho^ut -> polish", "shout: Shout"),
            (".sho^ut(", "shout: Shout"),
            ("shout: Sho^ut =", "Shout(pub usize)"),
            ("WriteEssay(Ess^ay)", "Essay {"),
            ("WriteEss^ay::run", "WriteEssay(Essay)"),
            ("STA^RT ->", "START: &str"),
            ("polish -> E^ND", "END: &str"),
            ("ret^ry: 3", "retry: ()"),
            ("#[key(su^m)]", "sum: ()"),
        ] {
            let found = definitions(client, place);
            assert_eq!(found.len(), 1, "`{place}`: {found:?}");
            assert!(found[0].starts_with(defined), "`{place}`: {found:?}");
        }
        // The second place is the macro.
        for (place, defined) in [
            ("-> EssayDra^ft {", "draft: String"),
            ("WriteEssayBuil^der", "WriteEssay(Essay)"),
        ] {
            let found = definitions(client, place);
            assert!(found[0].starts_with(defined), "`{place}`: {found:?}");
        }
    });
}

#[test]
fn a_name_shows_its_documentation() {
    open(|client| {
        for (place, shown) in [
            (
                "START -> wri^te",
                ["async fn write(topic: &str", "Writes the next draft."],
            ),
            (
                "Revise => wri^te",
                ["async fn write(topic: &str", "Writes the next draft."],
            ),
            ("Revi^se =>", ["Revise", "Once more."]),
            ("STA^RT ->", ["const START", "The start of a run"]),
            ("ret^ry: 3", ["retry", "The number of attempts"]),
            ("#[key(su^m)]", ["sum", "A write is added to the number."]),
            (
                "sho^ut -> polish",
                ["fn shout", "Sets the node value `shout`"],
            ),
            (
                "WriteEss^ay::run",
                ["struct WriteEssay", "Drafts an essay."],
            ),
        ] {
            let hover = client.ask("hover", caret_position(ESSAY, place), &json!({}));
            let hover = hover.unwrap_or_else(|error| panic!("hover at `{place}`: {error}"));
            let text = hover["contents"]["value"].as_str().unwrap_or_default();
            for shown in shown {
                assert!(
                    text.contains(shown),
                    "hover at `{place}` without `{shown}`:\n{text}"
                );
            }
            assert!(
                !text.contains("__"),
                "hover at `{place}` shows internals:\n{text}"
            );
        }
    });
}

#[test]
fn references_are_found_in_flows() {
    open(|client| {
        for (place, word) in [
            ("fn wri^te(", "write"),
            ("Revi^se =>", "Revise"),
            ("sho^ut ->", "shout"),
        ] {
            let context = json!({ "context": { "includeDeclaration": true } });
            let found = client.ask("references", caret_position(ESSAY, place), &context);
            let found = found.unwrap_or_else(|error| panic!("references of `{place}`: {error}"));
            let count = with_word(ESSAY, word, "\0").matches('\0').count();
            assert_eq!(
                found.as_array().map(Vec::len),
                Some(count),
                "`{place}`: {found}"
            );
        }
    });
}

/// The labels of what the server offers where `typed` has a `|`, after `before` became `typed`, in their order.
fn completions(client: &mut Client, before: &str, typed: &str) -> Vec<String> {
    let begin = ESSAY
        .find(before)
        .unwrap_or_else(|| panic!("no `{before}`"));
    let cursor = begin + typed.find('|').expect("the text has a cursor");
    let text = ESSAY.replacen(before, &typed.replacen('|', "", 1), 1);
    client.edit(&text);
    let found = client.ask("completion", position(&text, cursor), &json!({}));
    let found = found.unwrap_or_else(|error| panic!("completion of `{typed}`: {error}"));
    let items = found["items"].as_array().into_iter().flatten();
    let mut items: Vec<_> = items
        .map(|item| {
            // The text that is written must be the name alone: `write(..)` calls it.
            let edit = item["textEdit"]["newText"].as_str().unwrap_or_default();
            (
                item["sortText"].as_str().unwrap_or_default().to_owned(),
                edit.to_owned(),
            )
        })
        .collect();
    items.sort();
    items.into_iter().map(|(_, edit)| edit).collect()
}

#[test]
fn nodes_and_statements_are_completed() {
    let nodes = ["write", "critique", "sorry", "START", "END"];
    let first = "START -> write -> critique;";
    let statements = ["node", "with", "catch", "defer", "interrupt"];
    open(|client| {
        for (before, typed, more) in [
            (first, "START -> write -> critique; w|", &statements[..]),
            (first, "w|", &statements),
            (first, "START -> write -> cr|", &["polish"]),
            (first, "START -> write -> cr|;", &["polish", "shout"]),
            (first, "START -> write -> e|;", &["each"]),
            (first, "START -> write & cr|;", &[]),
            ("Revise => write,", "Revise => wr|,", &["polish"]),
            ("with write {", "with wr| {", &[]),
            ("with write { retry: 3 };", "with wr|;", &[]),
            ("catch write -> sorry", "catch wr| -> sorry", &[]),
            ("catch write -> sorry", "catch write -> so|", &[]),
            ("before write", "before wr|", &[]),
            ("before write if", "be|", &["before", "after"]),
        ] {
            let found = completions(client, before, typed);
            for name in nodes.iter().chain(more) {
                assert!(
                    found.iter().any(|found| found == name),
                    "`{typed}` without `{name}`: {found:?}"
                );
            }
            let internal = found.iter().find(|found| found.starts_with("__"));
            assert_eq!(internal, None, "`{typed}`: {found:?}");
        }
        // Nothing is typed yet.
        let others = ["polish", "shout", "each"];
        for (before, typed, more) in [
            (first, "START -> write -> |;", &others[..]),
            (first, "START -> write -> |", &others),
            (first, "START -> write -> critique; |", &[]),
            ("Revise => write,", "Revise => |,", &others),
            ("catch write -> sorry", "catch write -> |", &others),
        ] {
            let found = completions(client, before, typed);
            for name in nodes.iter().chain(more) {
                assert!(
                    found.iter().any(|found| found.starts_with(*name)),
                    "`{typed}` without `{name}`: {found:?}"
                );
            }
        }
    });
}

#[test]
fn arms_and_options_are_completed() {
    let arms = ["Publish", "Revise"];
    let options = ["cache", "id", "idle", "remote", "retry", "timeout"];
    open(|client| {
        for (before, typed, expected) in [
            ("Revise => write,", "Re| => write,", &arms[..]),
            ("Revise => write,", "Re|", &arms),
            (
                "Revise => write, Publish => shout",
                "Revise => write, P|",
                &arms,
            ),
            ("{ retry: 3 }", "{ re| }", &options),
            ("{ retry: 3 }", "{ retry: 3, ti| }", &options),
            // Nothing is typed yet.
            ("Revise => write, Publish => shout", "|", &arms),
            (
                "Revise => write, Publish => shout",
                "Revise => write, |",
                &arms,
            ),
            ("{ retry: 3 }", "{ | }", &options),
            ("{ retry: 3 }", "{|}", &options),
            ("{ retry: 3 }", "{ retry: 3, | }", &options),
        ] {
            assert_eq!(completions(client, before, typed), expected, "`{typed}`");
        }
    });
}

#[test]
fn options_of_attributes_are_completed() {
    let of_keys = ["append", "ephemeral", "input", "reduce", "sum", "turn"];
    let of_nodes = [
        "blocking", "cache", "idle", "name", "retry", "spawn", "timeout",
    ];
    let first = "#[node(Essay)]\nasync fn sorry";
    let node = |options: &str| format!("#[node(Essay, {options})]\nasync fn sorry");
    open(|client| {
        for (before, typed, expected) in [
            ("#[key(sum)]", "#[key(su|)]", &of_keys[..]),
            ("#[key(sum)]", "#[key(|)]", &of_keys),
            ("#[key(input)]", "#[key(|)]", &of_keys),
            ("#[key(sum)]", "#[key(sum, |)]", &of_keys),
            ("#[key(sum)]", "#[key(sum, tu|)]", &of_keys),
            (first, &node("re|"), &of_nodes),
            (first, &node("|"), &of_nodes),
            (first, &node("retry = 3, |"), &of_nodes),
        ] {
            let found = completions(client, before, typed);
            for name in expected {
                assert!(
                    found.iter().any(|found| found == name),
                    "`{typed}` without `{name}`: {found:?}"
                );
            }
        }
    });
}

#[test]
fn the_body_of_a_node_is_completed() {
    open(|client| {
        for (before, typed, expected) in [
            ("let verdict = if", "let verdict = ver|; if", "Verdict"),
            ("let verdict = if", "let verdict = dra|; if", "draft"),
            (
                "(EssayRounds(1), verdict)",
                "(EssayRounds(1), verd|)",
                "verdict",
            ),
        ] {
            let found = completions(client, before, typed);
            assert!(found.iter().any(|it| it == expected), "{typed}: {found:?}");
        }
    });
}

/// Only in the flow: elsewhere, the library here lacks what the rules of the language need.
#[test]
fn a_correct_flow_has_no_errors() {
    open(|client| {
        let found = client.ask("diagnostic", (0, 0), &json!({}));
        let found = found.unwrap_or_else(|error| panic!("no diagnostics: {error}"));
        let first = caret_position(ESSAY, "flo^w! {").0;
        let last = caret_position(ESSAY, "draft.is_empty();^").0;
        for error in found["items"].as_array().expect("a list of errors") {
            let line = number(&error["range"]["start"]["line"]);
            assert!(!(first..=last).contains(&line), "{error}");
        }
    });
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    open(|client| {
        let text = ESSAY.replacen("catch write -> sorry", "catch write -> END", 1);
        client.edit(&text);
        let found = client.ask("diagnostic", (0, 0), &json!({}));
        let found = found.unwrap_or_else(|error| panic!("no diagnostics: {error}"));
        let (line, character) = caret_position(&text, "catch write -> ^END");
        let here = json!({ "line": line, "character": character });
        let errors = found["items"].as_array().expect("a list of errors");
        let error = errors.iter().find(|error| error["range"]["start"] == here);
        let message = error.and_then(|error| error["message"].as_str());
        assert!(
            message.is_some_and(|message| message.starts_with("PF")),
            "{found}"
        );
    });
}
