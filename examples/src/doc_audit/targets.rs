//! What links may lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::section::{self, Section};

/// Everything that a set of sections links to, looked up once.
///
/// With this at hand, judging a section needs no disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    root: PathBuf,
    known: BTreeMap<PathBuf, Target>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Nothing.
    Missing,
    /// Something without anchors of its own: a folder, a picture, code.
    Exists,
    /// A document with these anchors.
    Markdown(BTreeSet<String>),
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) path: PathBuf,
    /// What follows `#`, decoded.
    pub(super) fragment: Option<String>,
}

impl Targets {
    /// Gathers what `sections` link to. Documents among them are known from their sections; `look` says what is at any
    /// other path ([`on_disk`] outside of tests). `root` is where links that begin with `/` start from.
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

    /// What is at a path; what nobody asked about in [`Targets::gather`] exists.
    pub(super) fn at(&self, path: &Path) -> &Target {
        self.known.get(path).unwrap_or(&Target::Exists)
    }

    /// Where a link in the document `from` leads; `None` if that is not a file.
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

/// What is really at a path. Links see what is on disk, whether or not it is to be checked itself.
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

/// The root of the repository that holds `path`, where links that begin with `/` start from; without one, the current
/// folder.
pub fn root_of(path: &Path) -> PathBuf {
    let (Ok(path), Ok(current)) = (std::path::absolute(path), std::env::current_dir()) else {
        return PathBuf::new();
    };
    let Some(root) = path.ancestors().find(|folder| folder.join(".git").exists()) else {
        return PathBuf::new();
    };
    // Said from the current folder where possible, as the documents are.
    if let Ok(below) = current.strip_prefix(root) {
        return below.components().map(|_| Component::ParentDir).collect();
    }
    root.strip_prefix(&current).unwrap_or(root).to_owned()
}

/// Whether a file is Markdown by its name.
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

    fn resolved(from: &str, destination: &str) -> Option<(String, Option<String>)> {
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
        assert_eq!(resolved("docs/a.md", "b.md#x"), to("docs/b.md", Some("x")));
        assert_eq!(resolved("docs/a.md", "../b.md"), to("b.md", None));
        assert_eq!(resolved("a.md", "../b.md"), to("../b.md", None));
        assert_eq!(
            resolved("./docs/a.md", "#caf%C3%A9"),
            to("docs/a.md", Some("café"))
        );
        assert_eq!(
            resolved("a.md", "two%20words.md?plain=1#L3"),
            to("two words.md", Some("L3"))
        );
        assert_eq!(resolved("docs/a.md", "/b.md"), to("root/b.md", None));
        assert_eq!(resolved("a.md", "%FF.md"), to("%FF.md", None));
        assert_eq!(resolved("docs/a.md", ".."), to(".", None));
        assert_eq!(resolved("/docs/a.md", "../../../b.md"), to("/b.md", None));
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
            assert_eq!(resolved("a.md", destination), None, "{destination}");
        }
        assert!(resolved("a.md", "sub/a:b.md").is_some());
    }
}
