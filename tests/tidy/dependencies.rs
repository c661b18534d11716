//! The page of the reference that says what each direct dependency is for has exactly those that there are.

use std::collections::BTreeSet;
use std::fs;

use crate::{report, workspace};

const PAGE: &str = "docs/reference/dependencies.md";

#[test]
fn the_page_has_each_dependency_of_the_published_packages() {
    let page = fs::read_to_string(workspace::root().join(PAGE)).expect("the page is readable");
    let listed: BTreeSet<_> = page.lines().flat_map(names).collect();
    let used = used();
    let missing = used.difference(&listed).map(|name| {
        format!("{PAGE}: `{name}` has no row: say what it is for, its licence and its project")
    });
    let unused = listed
        .difference(&used)
        .map(|name| format!("{PAGE}: no published package uses `{name}`: remove it"));
    report(&missing.chain(unused).collect::<Vec<_>>());
}

/// The crates in the first cell of a row.
fn names(line: &str) -> Vec<&str> {
    let cell = line
        .strip_prefix("| `")
        .and_then(|row| row.split('|').next());
    let names = cell.into_iter().flat_map(|cell| cell.split(','));
    names.map(|name| name.trim_matches([' ', '`'])).collect()
}

fn used() -> BTreeSet<&'static str> {
    let published = workspace::packages()
        .iter()
        .filter(|package| package.published);
    let dependencies = published.flat_map(|package| &package.dependencies);
    let of_others = dependencies
        .filter(|dependency| !dependency.dev && !dependency.name.starts_with("petalflow"));
    of_others
        .map(|dependency| dependency.name.as_str())
        .collect()
}
