//! Targets of links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::section::{self, Section};

/// All targets of the links of a set of sections, looked up once.
///
/// With this, checking a section needs no disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    root: PathBuf,
    known: BTreeMap<PathBuf, Target>,
}

/// The kind of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Nothing.
    Missing,
    /// A target without anchors: a folder, a picture, code.
    Exists,
    /// A document with these anchors.
    Markdown(BTreeSet<String>),
}

/// The destination of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) path: PathBuf,
    /// The part after `#`, decoded.
    pub(super) fragment: Option<String>,
}

impl Targets {
    /// Looks up the targets of `sections`. Documents among the sections are known. `look` returns the kind of any other path
    /// ([`on_disk`] outside of tests). Links that begin with `/` are relative to `root`.
    pub fn gather<'a>(
        sections: impl IntoIterator<Item = &'a Section> + Clone,
        root: &Path,
        look: impl Fn(&Path) -> Target,
    ) -> Self {
        let mut targets = Self {
            root: root.to_owned(),
            known: BTreeMap::new(),
        };
        for section in sections.clone() {
            let document = targets.known.entry(normal(&section.path));
            let Target::Markdown(anchors) =
                document.or_insert_with(|| Target::Markdown(BTreeSet::new()))
            else {
                continue;
            };
            anchors.extend(section.anchors.iter().cloned());
        }
        for section in sections {
            for link in &section.links {
                if let Some(destination) = targets.resolve(&section.path, &link.destination) {
                    targets
                        .known
                        .entry(destination.path)
                        .or_insert_with_key(|path| look(path));
                }
            }
        }
        targets
    }

    /// The kind of a path. A path that [`Targets::gather`] did not look up counts as existing.
    pub(super) fn at(&self, path: &Path) -> &Target {
        self.known.get(path).unwrap_or(&Target::Exists)
    }

    /// The destination of a link in the document `from`; `None` if it is not a file.
    pub(super) fn resolve(&self, from: &Path, destination: &str) -> Option<Destination> {
        if destination.starts_with("//") || has_scheme(destination) {
            return None;
        }
        let (path, fragment) = match destination.split_once('#') {
            Some((path, fragment)) => (path, Some(decode(fragment))),
            None => (destination, None),
        };
        let path = decode(path.split('?').next().unwrap_or_default());
        let path = match path.strip_prefix('/') {
            _ if path.is_empty() => from.to_owned(),
            Some(path) => self.root.join(path),
            None => from.parent().unwrap_or(Path::new("")).join(path),
        };
        Some(Destination {
            path: normal(&path),
            fragment,
        })
    }
}

/// The kind of a path on disk, whether or not it is checked itself.
pub fn on_disk(path: &Path) -> Target {
    match path.metadata() {
        Err(_) => Target::Missing,
        Ok(found) if found.is_file() && is_markdown(path) => match std::fs::read_to_string(path) {
            Ok(text) => Target::Markdown(section::anchors(&text).collect()),
            Err(_) => Target::Exists,
        },
        Ok(_) => Target::Exists,
    }
}

/// The root of the repository of `path`; without a repository, the current folder. Links that begin with `/` are relative to
/// it.
pub fn root_of(path: &Path) -> PathBuf {
    let (Ok(path), Ok(current)) = (std::path::absolute(path), std::env::current_dir()) else {
        return PathBuf::new();
    };
    let Some(root) = path.ancestors().find(|folder| folder.join(".git").exists()) else {
        return PathBuf::new();
    };
    // Relative to the current folder if possible, as the documents are.
    if let Ok(below) = current.strip_prefix(root) {
        return below.components().map(|_| Component::ParentDir).collect();
    }
    root.strip_prefix(&current).unwrap_or(root).to_owned()
}

/// Whether the name of a file is that of a Markdown document.
pub(super) fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        ["md", "markdown"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// `https:`, `mailto:` and the like.
fn has_scheme(destination: &str) -> bool {
    destination.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

fn decode(encoded: &str) -> String {
    percent_decode_str(encoded)
        .decode_utf8()
        .map_or_else(|_| encoded.to_owned(), std::borrow::Cow::into_owned)
}

/// Resolves `.` and `..` by name, as a browser does: `docs/../a.md` and `./a.md` are `a.md`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => _ = normal.pop(),
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => normal.push(component),
            },
            _ => normal.push(component),
        }
    }
    if normal.as_os_str().is_empty() {
        normal.push(".");
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(from: &str, destination: &str) -> Option<(String, Option<String>)> {
        let targets = Targets {
            root: PathBuf::from("root"),
            ..Targets::default()
        };
        let found = targets.resolve(Path::new(from), destination)?;
        Some((found.path.to_str().unwrap().to_owned(), found.fragment))
    }

    #[test]
    fn links_are_resolved_from_their_document() {
        let to = |path: &str, fragment: Option<&str>| {
            Some((path.to_owned(), fragment.map(str::to_owned)))
        };
        assert_eq!(resolve("docs/a.md", "b.md#x"), to("docs/b.md", Some("x")));
        assert_eq!(resolve("docs/a.md", "../b.md"), to("b.md", None));
        assert_eq!(resolve("a.md", "../b.md"), to("../b.md", None));
        assert_eq!(
            resolve("./docs/a.md", "#caf%C3%A9"),
            to("docs/a.md", Some("café"))
        );
        assert_eq!(
            resolve("a.md", "two%20words.md?plain=1#L3"),
            to("two words.md", Some("L3"))
        );
        assert_eq!(resolve("docs/a.md", "/b.md"), to("root/b.md", None));
        assert_eq!(resolve("a.md", "%FF.md"), to("%FF.md", None));
        assert_eq!(resolve("docs/a.md", ".."), to(".", None));
        assert_eq!(resolve("/docs/a.md", "../../../b.md"), to("/b.md", None));
    }

    #[test]
    fn the_web_is_not_ours() {
        for destination in [
            "https://example.org",
            "HTTP://x",
            "mailto:me@example.org",
            "//example.org/x",
            "tel:1",
        ] {
            assert_eq!(resolve("a.md", destination), None, "{destination}");
        }
        assert!(resolve("a.md", "sub/a:b.md").is_some());
    }
}
