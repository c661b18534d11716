//! How long files are, which words they use, and which documents they cite.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::{report, rules, workspace};

#[test]
fn files_are_short() {
    let mut errors = Vec::new();
    for file in workspace::rust_files() {
        // Written by a test, not by hand.
        if file
            .components()
            .any(|part| part.as_os_str() == "snapshots")
        {
            continue;
        }
        let lines = read(file).lines().count();
        if lines > rules::MAX_LINES {
            errors.push(format!(
                "{}: {lines} lines, {} are allowed: split it, one concept per file",
                file.display(),
                rules::MAX_LINES
            ));
        }
    }
    report(&errors);
}

#[test]
fn identifiers_use_the_words_of_the_field() {
    let mut errors = Vec::new();
    for file in workspace::rust_files()
        .iter()
        .filter(|file| !file.starts_with("tests/tidy"))
    {
        let text = read(file);
        // What does not even lex is a UI test of broken input.
        let Ok(tokens) = TokenStream::from_str(&text) else {
            continue;
        };
        for_each_identifier(tokens, &mut |ident| {
            let name = ident.to_string();
            for word in words(&name) {
                if let Some((_, better)) = rules::WORDS.iter().find(|(bad, _)| *bad == word) {
                    errors.push(format!(
                        "{}:{}: `{name}` has the word `{word}`, which says nothing to a newcomer: use {better}",
                        file.display(),
                        ident.span().start().line
                    ));
                }
            }
        });
    }
    report(&errors);
}

#[test]
fn cited_documents_exist() {
    let mut errors = Vec::new();
    for file in workspace::rust_files() {
        for (number, line) in read(file).lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            for (at, _) in comment.match_indices("docs/") {
                // Part of a longer path, or of a web address.
                if comment[..at]
                    .ends_with(|before: char| before.is_alphanumeric() || "/.-_".contains(before))
                {
                    continue;
                }
                let end = comment[at..]
                    .find(|char: char| !char.is_ascii_alphanumeric() && !"/._-".contains(char))
                    .map_or(comment.len(), |length| at + length);
                let path = comment[at..end].trim_end_matches(['.', '/']);
                if !path.contains("..") && !workspace::root().join(path).exists() {
                    errors.push(format!(
                        "{}:{}: `{path}` does not exist",
                        file.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    report(&errors);
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(workspace::root().join(file))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn for_each_identifier(tokens: TokenStream, check: &mut impl FnMut(&Ident)) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => check(&ident),
            TokenTree::Group(group) => for_each_identifier(group.stream(), check),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The words of `some_name` and of `SomeName`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        if char == '_' || was_lower && char.is_uppercase() {
            words.push(String::new());
        }
        if char != '_' {
            words
                .last_mut()
                .expect("never empty")
                .extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase();
    }
    words
}

#[test]
fn names_are_split_into_words() {
    assert_eq!(words("some_name"), ["some", "name"]);
    assert_eq!(words("SomeName"), ["some", "name"]);
    assert_eq!(words("MAX_SIZE"), ["max", "size"]);
}
