//! The public names of the crates that users name are those in `public/`.
//!
//! A changed name is a changed interface: `PETALFLOW_BLESS=1 cargo test -p petalflow-tidy` writes the lists anew; read
//! the difference as a user of the crate would.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::source::{self, Module, Source};
use crate::{report, rules, workspace};

#[test]
fn public_names_are_those_on_record() {
    let bless = std::env::var_os("PETALFLOW_BLESS").is_some();
    let folder = workspace::root().join("tests/tidy/public");
    let mut errors = Vec::new();
    let mut files = BTreeSet::new();
    for package in workspace::packages() {
        if !package.published || rules::INTERNAL_PACKAGES.contains(&&*package.name) {
            continue;
        }
        let file = folder.join(format!("{}.txt", package.name));
        let (_, library) = source::crates()
            .iter()
            .find(|(name, _)| *name == package.name)
            .expect("each package has been read");
        let names = names(library);
        let recorded: BTreeSet<String> = std::fs::read_to_string(&file)
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect();
        if bless {
            let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(&file, text))
                .expect("the list can be written");
        } else {
            let added = names.difference(&recorded).map(|name| format!("+ {name}"));
            let removed = recorded.difference(&names).map(|name| format!("- {name}"));
            errors.extend(
                added
                    .chain(removed)
                    .map(|line| format!("{}: {line}", package.name)),
            );
        }
        files.insert(file);
    }
    for file in folder.read_dir().into_iter().flatten() {
        let file: PathBuf = file.expect("the folder is readable").path();
        if !files.contains(&file) {
            errors.push(format!(
                "{}: no such package is published: delete the file",
                file.display()
            ));
        }
    }
    if !errors.is_empty() {
        errors.push("If this is meant, run `PETALFLOW_BLESS=1 cargo test -p petalflow-tidy` and add a line to CHANGELOG.md.".into());
    }
    report(&errors);
}

/// What users can name: the items and re-exports of each module to which a path of public modules leads.
fn names(source: &Source) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let hidden = |module: &Module| module.path.iter().any(|name| name.starts_with("__"));
    let is_reached = |module: &Module| {
        (1..=module.path.len()).all(|length| {
            source
                .modules
                .iter()
                .any(|other| other.public && other.path == module.path[..length])
        })
    };
    for module in &source.modules {
        if hidden(module) || !is_reached(module) {
            continue;
        }
        let prefix: String = module.path.iter().flat_map(|name| [name, "::"]).collect();
        names.extend(
            module
                .items
                .iter()
                .map(|(kind, name)| format!("{kind} {prefix}{name}")),
        );
    }
    // Underscores say that a name is for generated code.
    names.retain(|name| !name.contains(" _") && !name.contains("::_"));
    names
}
