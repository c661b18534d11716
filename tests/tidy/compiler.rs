//! The version of the compiler is in `rust-toolchain.toml`. Every other file that names one names the same.

use std::path::{Path, PathBuf};

use crate::{report, workspace};

/// These name the version. Others may, and then it is compared too.
const NAMED_IN: [&str; 8] = [
    "CHANGELOG.md",
    "Cargo.toml",
    "Containerfile",
    "README.md",
    "crates/petalflow-restate/Cargo.toml",
    "docs/cookbook/containers.md",
    "docs/guide/upgrades.md",
    "rust-toolchain.toml",
];

/// Records name the version of their time. The UI tests have the messages of the compiler. Git and Cargo write the others.
const LEFT_OUT: [&str; 5] = [
    ".git",
    "docs/decisions",
    "node_modules",
    "target",
    "tests/ui",
];

const EXTENSIONS: [&str; 8] = ["json", "liquid", "md", "rs", "sh", "toml", "yaml", "yml"];

#[test]
fn one_version_of_the_compiler_is_named() {
    let toolchain = read(Path::new("rust-toolchain.toml"));
    let channel = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'))
        .expect("rust-toolchain.toml has a line `channel = \"..\"`");
    let (minor, patch) = channel.rsplit_once('.').expect("the channel is a version");
    assert!(
        patch.parse::<u32>().is_ok() && minor.matches('.').count() == 1,
        "rust-toolchain.toml: write the channel as `1.95.0`, so that all machines have the same compiler"
    );

    let mut errors = Vec::new();
    let mut naming = Vec::new();
    let mut files = Vec::new();
    collect(Path::new(""), &mut files);
    for file in files {
        let text = read(&file);
        for (number, line) in text.lines().enumerate() {
            for found in versions(line) {
                naming.push(file.clone());
                if found != channel && found != minor {
                    errors.push(format!(
                        "{}:{}: names the compiler {found}, and rust-toolchain.toml names {channel}: \
                         write `{minor}` here, or `{channel}` where a whole version is needed",
                        file.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    for name in NAMED_IN {
        if !naming.iter().any(|file| file == Path::new(name)) {
            errors.push(format!("{name}: does not name the compiler {minor}"));
        }
    }
    // The image of a release has exactly the compiler with which everything was tested.
    if !read(Path::new("Containerfile")).contains(&format!("ARG RUST={channel}\n")) {
        errors.push(format!("Containerfile: write `ARG RUST={channel}`"));
    }
    report(&errors);
}

/// The versions of compilers on a line: those like `1.95` or `1.95.0`, if the line is about Rust.
fn versions(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if !line.to_lowercase().contains("rust") && !line.starts_with("channel") {
        return found;
    }
    for word in line.split(|char: char| !char.is_ascii_alphanumeric() && char != '.') {
        let word = word.trim_matches('.');
        let mut numbers = word.split('.');
        let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
        // Two digits: a crate whose name has `rust` may have the version 1.2.
        if numbers.next() == Some("1")
            && numbers
                .next()
                .is_some_and(|minor| minor.len() >= 2 && is_number(minor))
            && numbers.all(|number| !number.is_empty() && is_number(number))
        {
            found.push(word);
        }
    }
    found
}

#[test]
fn versions_of_compilers_are_found() {
    assert_eq!(versions("You need Rust 1.95, and cargo."), ["1.95"]);
    assert_eq!(versions("FROM rust:1.95-slim-trixie AS build"), ["1.95"]);
    assert_eq!(versions("ARG RUST=1.95.0"), ["1.95.0"]);
    assert_eq!(versions("channel = \"1.95.0\""), ["1.95.0"]);
    assert_eq!(versions("rust-version = \"1.95\""), ["1.95"]);
    assert!(versions("rustls = \"0.23.12\"").is_empty());
    assert!(versions("two did 1.96 times as many").is_empty());
}

/// The files of the repository in which people write, sorted.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = workspace::root()
        .join(folder)
        .read_dir()
        .expect("the folder is there");
    let mut entries: Vec<_> = entries
        .map(|entry| entry.expect("the folder is readable"))
        .collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        let is_left_out =
            |name: &str| path.ends_with(name) && (path == Path::new(name) || !name.contains('/'));
        if LEFT_OUT.into_iter().any(is_left_out) || path == Path::new("tests/tidy/compiler.rs") {
            continue;
        }
        let kind = entry.file_type().expect("the entry has a type");
        let is_text = path
            .extension()
            .is_none_or(|extension| EXTENSIONS.contains(&&*extension.to_string_lossy()));
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() && is_text {
            files.push(path);
        }
    }
}

/// The text of a file. One that is not text names nothing.
fn read(file: &Path) -> String {
    let bytes = std::fs::read(workspace::root().join(file))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    String::from_utf8(bytes).unwrap_or_default()
}
