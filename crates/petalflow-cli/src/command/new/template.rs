//! The templates, and the files that they become.

use std::path::Path;

use super::package;
use crate::exit::{Exit, Failure, Result};

/// What a project is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Template {
    /// A graph in YAML, with a tool and a question to a person
    Graph,
    /// An agent in Rust, with a tool that a person must approve, in SQLite
    RustAgent,
    /// A flow in Rust, with a typed question to a person and an effect that happens once, in SQLite
    RustFlow,
}

/// A file of a project.
pub(super) struct File {
    /// Relative to the folder of the project.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) is_program: bool,
}

/// A file of a template: its path, and its text with placeholders.
type Source = (&'static str, &'static str);

macro_rules! sources {
    ($folder:literal: $($file:literal)+) => {
        &[$(($file, include_str!(concat!("../../../templates/", $folder, "/", $file)))),+]
    };
}

const GRAPH: &[Source] = sources!("graph": "NAME.graph.yaml" "README.md" "count.sh" "test.sh");
// `.liquid`: a folder with a `Cargo.toml` would not be part of the package of this program. `cargo generate` also removes it.
const RUST_AGENT: &[Source] = sources!(
    "rust-agent": "Cargo.toml.liquid" "README.md" ".gitignore" "src/lib.rs" "src/main.rs" "tests/agent.rs"
);
const RUST_FLOW: &[Source] = sources!(
    "rust-flow": "Cargo.toml.liquid" "README.md" ".gitignore" "src/lib.rs" "src/main.rs" "tests/flow.rs"
);

impl Template {
    /// The commands to try a project, in its folder.
    pub(super) fn commands(self) -> &'static [&'static str] {
        match self {
            Template::Graph => &["./test.sh"],
            Template::RustAgent => &[
                "cargo run -- \"My lamp arrived broken. The order is A-17.\"",
                "cargo run -- yes",
            ],
            Template::RustFlow => &[
                "cargo run -- ask A-1 \"a chair for the office\"",
                "cargo run -- answer A-1 yes",
            ],
        }
    }

    /// Fails if a project of this template cannot have this name.
    pub(super) fn check_name(self, name: &str) -> Result<&str> {
        let wrong = self
            .manifest()
            .and_then(|manifest| package::wrong_name(name, manifest));
        match wrong {
            None => Ok(name),
            Some(why) => {
                let text = format_args!("`{name}` is no name for a package of Rust: {why}");
                Err(Failure::new(Exit::Usage, text)
                    .hint(format_args!("choose another name, such as `my-{name}`")))
            }
        }
    }

    /// The end of `Cargo.toml` for a project with the crates of a clone of the repository.
    pub(super) fn patches(self, clone: &Path) -> Result<String> {
        let Some(manifest) = self.manifest() else {
            let text = "`--source` is for projects in Rust, and `graph` is none";
            return Err(Failure::new(Exit::Usage, text).hint("add `--template rust-agent`"));
        };
        package::patches(manifest, clone)
    }

    /// The text of `Cargo.toml`, with placeholders. `None` for a project that is not in Rust.
    fn manifest(self) -> Option<&'static str> {
        let sources = self.sources().iter();
        let mut manifests = sources.filter(|(path, _)| path.starts_with("Cargo.toml"));
        manifests.next().map(|(_, text)| *text)
    }

    /// The files of a project. `patches` is the end of its `Cargo.toml`.
    pub(super) fn files(self, name: &str, patches: &str) -> Vec<File> {
        let filled = |text: &str| match self {
            // The templates of a graph have `{{ }}` themselves.
            Template::Graph => text.replace("NAME", name),
            Template::RustAgent | Template::RustFlow => text
                .replace("{{project-name}}", name)
                .replace("{{crate_name}}", &package::crate_name(name)),
        };
        let file = |&(path, text): &Source| {
            let path = path.strip_suffix(".liquid").unwrap_or(path);
            let end = if path == "Cargo.toml" { patches } else { "" };
            File {
                path: filled(path),
                text: filled(text) + end,
                is_program: Path::new(path).extension().is_some_and(|it| it == "sh"),
            }
        };
        self.sources().iter().map(file).collect()
    }

    fn sources(self) -> &'static [Source] {
        match self {
            Template::Graph => GRAPH,
            Template::RustAgent => RUST_AGENT,
            Template::RustFlow => RUST_FLOW,
        }
    }
}
