//! Makes modules of the repository's documents, so that `cargo doc` builds a site of them and `cargo test --doc` runs their
//! programs. Links between documents become links between pages. A dead link is an error.
//!
//! If the line before a fence ends with "prints:", the fence has what the program above it prints, and a test compares it.
//! The tests in a program are tests. A picture is part of its page.

mod pictures;
mod programs;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The folders of documents, each with whether its programs are tests of the documentation. Those of the cookbook are modules of
/// one test, since each of them has tests: they compile once, together.
const FOLDERS: [(&str, bool); 5] = [
    ("concepts", false),
    ("cookbook", false),
    ("guide", true),
    ("reference", true),
    ("decisions", false),
];

/// The folders whose programs with tests, and with outputs, are modules of tests.
const PROGRAMS: [&str; 2] = ["docs/cookbook", "docs/guide"];

/// The documents in the root of the repository. Other tests run the programs of the README.
const ROOT: [&str; 4] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// The module of each document; empty for the README of the repository, which `lib.rs` includes as the first page.
type Pages = BTreeMap<PathBuf, Vec<String>>;

fn main() -> Result<()> {
    // Not `env!`: another checkout with the same target folder may have compiled this program.
    let root = env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets `CARGO_MANIFEST_DIR`")?;
    let root = Path::new(&root).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets `OUT_DIR`")?);
    let pages = pages(&root)?;
    let mut modules = String::new();
    let mut programs = Vec::new();
    for (path, module) in &pages {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
        let text = fs::read_to_string(root.join(path))?;
        let has_programs = PROGRAMS.iter().any(|folder| path.starts_with(folder));
        if has_programs || path == Path::new("README.md") {
            programs.extend(programs::programs(path, &text));
        }
        let text = pictures::embed(&text, path, &root)?;
        let text = linked(&text, path, &pages, &root)?;
        let file = out.join(path.to_string_lossy().replace('/', "-"));
        fs::write(&file, text)?;
        match &module[..] {
            [name] if !FOLDERS.iter().any(|(folder, _)| folder == name) => {
                modules.push_str(&page(&file, name, false, ""));
            }
            [folder] => modules.push_str(&page(&file, folder, false, &inner(folder, &pages, &out))),
            _ => {}
        }
    }
    fs::write(out.join("pages.rs"), modules)?;
    programs::write_printing(&programs, &out)?;
    programs::write_testing(&programs, &out)?;
    Ok(())
}

/// All documents.
fn pages(root: &Path) -> Result<Pages> {
    let mut pages: Pages = ROOT
        .iter()
        .map(|file| (file.into(), module(None, file)))
        .collect();
    for (folder, _) in FOLDERS {
        let path = Path::new("docs").join(folder);
        println!("cargo::rerun-if-changed={}", root.join(&path).display());
        for entry in fs::read_dir(root.join(&path))? {
            let name = entry?.file_name();
            let name = name.to_str().ok_or("the name of a document is not UTF-8")?;
            pages.insert(path.join(name), module(Some(folder), name));
        }
    }
    Ok(pages)
}

/// The module of the document `name`: the folder for a README.
fn module(folder: Option<&str>, name: &str) -> Vec<String> {
    let stem = name
        .trim_end_matches(".md")
        .to_lowercase()
        .replace('-', "_");
    let stem = match stem.as_bytes() {
        [b'0'..=b'9', ..] => format!("record_{stem}"),
        _ => stem,
    };
    let names = folder
        .into_iter()
        .chain((stem != "readme").then_some(&*stem));
    names.map(String::from).collect()
}

/// The modules of the documents in a folder.
fn inner(folder: &str, pages: &Pages, out: &Path) -> String {
    let tested = FOLDERS.contains(&(folder, true));
    let pages = pages.iter().filter_map(|(path, module)| match &module[..] {
        [of, name] if of == folder => {
            let file = out.join(path.to_string_lossy().replace('/', "-"));
            Some(page(&file, name, tested, ""))
        }
        _ => None,
    });
    pages.collect()
}

fn page(file: &Path, module: &str, tested: bool, inner: &str) -> String {
    let condition = if tested { "all()" } else { "not(doctest)" };
    let file = file.display();
    format!(
        "#[cfg_attr({condition}, doc = include_str!(r\"{file}\"))]\npub mod {module} {{ {inner} }}\n"
    )
}

/// The text of a document, with links to the pages of other documents. A link to another file becomes plain text.
fn linked(text: &str, path: &Path, pages: &Pages, root: &Path) -> Result<String> {
    let mut parts = text.split("](");
    let mut linked = String::from(parts.next().unwrap_or_default());
    for part in parts {
        let (target, rest) = part.split_once(')').unwrap_or((part, ""));
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let found = normal(&path.with_file_name(file));
        if let Some(module) = pages.get(&found).filter(|_| !file.is_empty()) {
            let up = "../".repeat(pages.get(path).map_or(0, Vec::len));
            let down = module.join("/");
            let anchor = if anchor.is_empty() {
                String::new()
            } else {
                format!("#{anchor}")
            };
            write!(linked, "]({up}{down}/index.html{anchor}){rest}")?;
        } else if !file.is_empty() && root.join(&found).exists() {
            let open = linked.rfind('[').ok_or("a link has no text")?;
            linked.remove(open);
            linked.push_str(rest);
        } else if Path::new(file).extension().is_some_and(|it| it == "md") && !file.contains("://")
        {
            return Err(format!("{}: dead link to `{target}`", path.display()).into());
        } else {
            write!(linked, "]({part}")?;
        }
    }
    Ok(linked)
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}
