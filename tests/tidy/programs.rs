//! The programs of the guides and of the README are complete: a reader copies them as they are.

use std::path::{Path, PathBuf};

use crate::{report, workspace};

/// A fence of a document.
struct Fence {
    line: usize,
    language: String,
    text: String,
}

#[test]
fn programs_of_guides_are_complete() {
    let mut errors = Vec::new();
    for page in pages() {
        for program in fences(&page).iter().filter(|fence| is_program(fence)) {
            let place = format!("{}:{}", page.display(), program.line);
            let is_hidden = |line: &str| line.trim_start().starts_with("# ") || line.trim() == "#";
            if program.text.lines().any(is_hidden) {
                errors.push(format!(
                    "{place}: lines that begin with `# ` are not shown: a reader cannot copy the program; remove the `# `"
                ));
            }
            if !["fn main(", "#[test]", "#[tokio::test"]
                .iter()
                .any(|item| program.text.contains(item))
            {
                errors.push(format!(
                    "{place}: the program has no `main` and no test: add one"
                ));
            }
        }
    }
    report(&errors);
}

#[test]
fn guides_name_the_crates_of_their_programs() {
    let docs = workspace::packages()
        .iter()
        .find(|package| package.name == "petalflow-docs");
    let crates = &docs.expect("the package of the documents").dependencies;
    let mut errors = Vec::new();
    for page in pages() {
        let fences = fences(&page);
        let needs: Vec<&str> = fences
            .iter()
            .filter(|fence| fence.language == "toml")
            .flat_map(|fence| fence.text.lines())
            .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
            .collect();
        for program in fences.iter().filter(|fence| is_program(fence)) {
            for name in crates.iter().map(|dependency| &*dependency.name) {
                if has_path(&program.text, &name.replace('-', "_")) && !needs.contains(&name) {
                    errors.push(format!(
                        "{}:{}: the program needs `{name}`, which no `toml` fence of the page has: add it there",
                        page.display(),
                        program.line
                    ));
                }
            }
        }
    }
    report(&errors);
}

#[test]
fn recipes_are_programs_with_a_test() {
    let mut errors = Vec::new();
    let recipes = recipes()
        .into_iter()
        .filter(|page| !page.ends_with("README.md"));
    for page in recipes {
        let name = page.display();
        let fences = fences(&page);
        let programs: Vec<&Fence> = fences.iter().filter(|fence| is_program(fence)).collect();
        let [program] = programs[..] else {
            errors.push(format!(
                "{name}: {} programs, and a recipe is one",
                programs.len()
            ));
            continue;
        };
        for part in ["fn main(", "#[cfg(test)]", "assert"] {
            if !program.text.contains(part) {
                errors.push(format!(
                    "{name}:{}: the recipe has no `{part}`",
                    program.line
                ));
            }
        }
        if program.language != "rust" {
            errors.push(format!(
                "{name}:{}: the test of `{}` does not run",
                program.line, program.language
            ));
        }
    }
    report(&errors);
}

/// The documents whose programs readers copy, below the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = documents("docs/guide");
    pages.extend(recipes());
    pages.push("README.md".into());
    pages.sort();
    pages
}

/// The pages of the cookbook.
fn recipes() -> Vec<PathBuf> {
    documents("docs/cookbook")
}

/// The documents in a folder.
fn documents(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(folder);
    let entries = workspace::root()
        .join(folder)
        .read_dir()
        .expect("the folder is there");
    entries
        .map(|entry| folder.join(entry.expect("the folder is readable").file_name()))
        .collect()
}

fn fences(page: &Path) -> Vec<Fence> {
    let text = std::fs::read_to_string(workspace::root().join(page)).expect("the page is readable");
    let mut fences = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inner = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| !line.starts_with("```"));
            let text = inner.collect::<Vec<_>>().join("\n");
            fences.push(Fence {
                line: number + 1,
                language: language.to_owned(),
                text,
            });
        }
    }
    fences
}

fn is_program(fence: &Fence) -> bool {
    fence.language.split(',').next() == Some("rust")
}

/// Whether the program has a path that begins with this crate.
fn has_path(program: &str, name: &str) -> bool {
    program.match_indices(&format!("{name}::")).any(|(at, _)| {
        !program[..at]
            .ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
    })
}
