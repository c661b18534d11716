//! Packages of Rust: their names, and where they take the crates of petalflow from.

use std::fmt::Write as _;
use std::path::Path;

use crate::exit::{Exit, Failure, Result};

/// The words that `use NAME::..` cannot name, as of the edition 2024.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates of the compiler, and folders in which cargo writes.
const TAKEN: [&str; 9] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "proc_macro",
    "std",
    "test",
];

/// The name of the crate of a package.
pub(super) fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}

/// Why a package cannot have this name, if so.
pub(super) fn wrong_name(name: &str, manifest: &str) -> Option<String> {
    let name = crate_name(name);
    let is = |words: &[&str]| words.contains(&name.as_str());
    if is(&KEYWORDS) {
        return Some("it is a keyword".into());
    }
    if is(&TAKEN) {
        return Some("the compiler or cargo uses this name".into());
    }
    let mut used = dependencies(manifest).filter(|used| crate_name(used) == name);
    used.next()
        .map(|used| format!("the project depends on the crate `{used}`"))
}

/// The lines at the end of a `Cargo.toml` that take the crates of petalflow from a clone of its repository.
pub(super) fn patches(manifest: &str, clone: &Path) -> Result<String> {
    let folder = clone.canonicalize().map_err(|error| {
        let text = format_args!("the folder `{}` cannot be read: {error}", clone.display());
        Failure::new(Exit::File, text)
    })?;
    let mut text = String::from("\n[patch.crates-io]\n");
    for name in dependencies(manifest).filter(|name| name.starts_with("petalflow")) {
        let place = match name {
            "petalflow" => folder.join(name),
            name => folder.join("crates").join(name),
        };
        let is_there = place.join("Cargo.toml").is_file();
        let Some(place) = place.to_str().filter(|_| is_there) else {
            let text = format_args!("`{}` has no crate `{name}`", clone.display());
            return Err(Failure::new(Exit::File, text).hint(
                "`--source` names a clone of the repository of petalflow, such as `../petalflow`",
            ));
        };
        // A text of JSON is also one of TOML.
        let place = serde_json::Value::from(place);
        let _ = writeln!(text, "{name} = {{ path = {place} }}");
    }
    Ok(text)
}

/// The names of the dependencies in a `Cargo.toml` whose lines are `NAME = ..`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let sections = manifest
        .split("\n[")
        .filter_map(|section| section.split_once("]\n"));
    let lines = sections
        .filter(|(name, _)| name.ends_with("dependencies"))
        .flat_map(|(_, lines)| lines.lines());
    lines.filter_map(|line| Some(line.split_once('=')?.0.trim()))
}
