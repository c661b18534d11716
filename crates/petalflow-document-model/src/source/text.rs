//! The text of a document, with its name and format.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::source::content::Content;
use crate::source::diagnostic::{Code, Diagnostic, Diagnostics, Position};
use crate::source::includes::{self, Files, Includes};
use crate::source::positions::{Positions, TextPositions};
use crate::source::report::Report;
use crate::source::tree::{MAX_BYTES, Misread, Place, Tree, check_length};
use crate::source::{json, names, quick, yaml};

/// The syntax of a document.
///
/// ```
/// use petalflow_document_model::source::{Format, Source};
///
/// let source = Source::new("request", "dish: soup").format(Format::Yaml);
/// assert_eq!(source.name(), "request");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON. Comments are not allowed.
    Json,
    /// YAML 1.2: one document, with aliases and merge keys.
    Yaml,
}

/// The text of a document.
///
/// The time and the memory that it takes are limited for any text: 2 MiB, 250,000 values with those that aliases repeat,
/// 64 levels.
///
/// ```
/// use petalflow_document_model::source::{Format, Source};
///
/// let source = Source::new("menu.yaml", "dish: soup");
/// assert_eq!(source.name(), "menu.yaml");
///
/// // A text without a file: the name is for messages, and the format is explicit.
/// let source = Source::new("request", "dish: soup").format(Format::Yaml).named("body");
/// assert_eq!(source.name(), "body");
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    format: Format,
    files: Files,
    is_thorough: bool,
}

impl Source {
    /// Creates a source from the text of a file. The format is YAML if the name ends with `.yaml` or `.yml`, and otherwise JSON.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let name = name.into();
        let extension = Path::new(&name).extension().and_then(|it| it.to_str());
        let is_yaml = extension
            .is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"));
        Source {
            format: if is_yaml { Format::Yaml } else { Format::Json },
            name,
            text: text.into(),
            files: Files::None,
            is_thorough: false,
        }
    }

    /// Reads a file. YAML can include others, relative to its folder: see [`including_from`](Self::including_from).
    ///
    /// ```
    /// use petalflow_document_model::source::Source;
    ///
    /// let source = Source::read("Cargo.toml")?;
    /// assert_eq!(source.name(), "Cargo.toml");
    /// assert!(Source::read("missing.yaml").is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not UTF-8.
    pub fn read(path: impl AsRef<Path>) -> std::io::Result<Self> {
        let path = path.as_ref();
        let text = includes::read(path)?;
        let source = Source::new(path.display().to_string(), text);
        Ok(source.including_from(path.parent().unwrap_or(path)))
    }

    /// Lets YAML include files: `!include FILE` is the value of that file, as YAML, with the path relative to this folder,
    /// also in files that are included themselves. A prompt in a file of its own is a text.
    ///
    /// Any file that the process can read can be included. Do not set the folder for a text that others wrote:
    /// `!include` is an error then.
    ///
    /// ```
    /// # #[derive(Clone, Copy, Debug, PartialEq)]
    /// # struct Wrong;
    /// # impl petalflow_document_model::source::Code for Wrong {
    /// #     const SYNTAX: Self = Wrong;
    /// #     const TOO_LARGE: Self = Wrong;
    /// #     const WRONG_VALUE: Self = Wrong;
    /// #     const DUPLICATE_NAME: Self = Wrong;
    /// #     fn as_str(&self) -> &'static str { "W-1" }
    /// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
    /// # }
    /// use petalflow_document_model::source::{Diagnostics, Report, Source};
    ///
    /// # let folder = std::env::temp_dir().join(format!("petalflow-include-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("soups.yaml"), "[leek, lentil]")?;
    /// let menu = Source::new("menu.yaml", "soups: !include soups.yaml");
    /// let soups = |menu: Source| -> (Option<usize>, Diagnostics<Wrong>) {
    ///     menu.inspect(|menu, _: &mut Report<Wrong>| menu["soups"].as_array().map(Vec::len))
    /// };
    /// assert_eq!(soups(menu.clone().including_from(&folder)).0, Some(2));
    /// assert!(soups(menu).1.has_errors());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn including_from(mut self, folder: impl Into<PathBuf>) -> Self {
        self.files = Files::Folder(folder.into());
        self
    }

    /// Lets YAML include these texts by their paths, in place of files. For a program that contains its documents.
    ///
    /// ```
    /// use petalflow_document_model::source::Source;
    ///
    /// let menu = Source::new("menu.yaml", "soups: !include soups.yaml").including([("soups.yaml", "[leek, lentil]")]);
    /// assert_eq!(menu.included(), ["soups.yaml"]);
    /// ```
    #[must_use]
    pub fn including<P: Into<String>, T: Into<String>>(
        mut self,
        texts: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let texts = texts.into_iter();
        self.files = Files::Texts(
            texts
                .map(|(path, text)| (path.into(), text.into()))
                .collect(),
        );
        self
    }

    /// The paths of the files that the document includes, also indirectly, each once. Of a document that cannot be read,
    /// those up to the error.
    pub fn included(&self) -> Vec<String> {
        // Most documents include nothing.
        if self.format == Format::Json || !self.text.contains(yaml::INCLUDE) {
            return Vec::new();
        }
        let mut includes = Includes::new(&self.name, &self.files);
        let _ = self.parse(&mut includes);
        includes.into_paths()
    }

    /// The name that diagnostics use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name that diagnostics use. The format does not change.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the format.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Does all work, also that which only a wrong document needs. Tests compare both ways: they find the same.
    #[doc(hidden)]
    #[must_use]
    pub fn thorough(mut self) -> Self {
        self.is_thorough = true;
        self
    }

    /// Parses the text and checks its value.
    ///
    /// `check` adds what is wrong to the report and returns what could be read. It is not called for a text that is not
    /// JSON or YAML. Names that occur twice are reported here; their first value counts.
    ///
    /// ```
    /// # #[derive(Clone, Copy, Debug, PartialEq)]
    /// # struct Wrong;
    /// # impl petalflow_document_model::source::Code for Wrong {
    /// #     const SYNTAX: Self = Wrong;
    /// #     const TOO_LARGE: Self = Wrong;
    /// #     const WRONG_VALUE: Self = Wrong;
    /// #     const DUPLICATE_NAME: Self = Wrong;
    /// #     fn as_str(&self) -> &'static str { "W-1" }
    /// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
    /// # }
    /// use petalflow_document_model::source::{Diagnostics, Report, Source};
    ///
    /// let read = |text| -> (Option<String>, Diagnostics<Wrong>) {
    ///     Source::new("menu.json", text)
    ///         .inspect(|menu, _: &mut Report<Wrong>| menu["dish"].as_str().map(str::to_owned))
    /// };
    /// let (dish, found) = read(r#"{ "dish": "soup" }"#);
    /// assert_eq!(dish.unwrap(), "soup");
    /// assert!(found.is_empty());
    /// assert!(read("{ dish }").1.has_errors());
    /// ```
    pub fn inspect<C: Code, T>(
        &self,
        check: impl FnOnce(&Value, &mut Report<C>) -> Option<T>,
    ) -> (Option<T>, Diagnostics<C>) {
        self.inspect_content(|content, report| check(&content.to_value(), report))
    }

    /// As [`inspect`](Self::inspect), for values that are not copied, and for types that keep the order of names.
    pub fn inspect_content<C: Code, T>(
        &self,
        check: impl FnOnce(Content<'_>, &mut Report<C>) -> Option<T>,
    ) -> (Option<T>, Diagnostics<C>) {
        let mut report = Report::default();
        // Most documents are right, and positions are only needed for what is wrong.
        if let Some(tree) = self.parse_quickly() {
            let checked = check(Content::of_unique(&tree), &mut report);
            if report.0.is_empty() {
                return (checked, Diagnostics::default());
            }
            let mut positions = TextPositions::new(self.plain_text());
            let all = all_located(report, |pointer, at_name| {
                (self.name.clone(), positions.find(pointer, at_name).position)
            });
            return (checked, Diagnostics::new(all));
        }
        let mut includes = Includes::new(&self.name, &self.files);
        let tree = match self.parse(&mut includes) {
            Ok(tree) => tree,
            Err(Misread { error, file }) => {
                let code = error.kind.code();
                let position = error.position;
                let place = (includes.name(file), position);
                let diagnostic = located(code, error.message, String::new(), place);
                return (None, Diagnostics::new(vec![diagnostic]));
            }
        };
        let name = |place: Place| (includes.name(place.file), place.position);
        let mut all = repeated(&tree, name);
        let content = Content::of(&tree).thorough(self.is_thorough);
        let checked = check(content, &mut report);
        let mut positions = Positions::new(&tree);
        all.extend(all_located(report, |pointer, at_name| {
            name(positions.find(pointer, at_name))
        }));
        (checked, Diagnostics::new(all))
    }

    /// The text without a mark that some editors write.
    fn plain_text(&self) -> &str {
        self.text.strip_prefix('\u{feff}').unwrap_or(&self.text)
    }

    fn parse_quickly(&self) -> Option<Tree<'_>> {
        if self.is_thorough || self.format == Format::Yaml || self.text.len() > MAX_BYTES {
            return None;
        }
        quick::parse(self.plain_text())
    }

    fn parse(&self, includes: &mut Includes<'_>) -> Result<Tree<'_>, Misread> {
        let parsed = match self.format {
            Format::Yaml => yaml::parse(&self.text, includes),
            Format::Json => check_length(&self.text).and_then(|()| json::parse(self.plain_text())),
        };
        let tree = parsed.map_err(|error| Misread {
            error,
            file: includes.failed,
        })?;
        tree.check_paths(0)?;
        Ok(tree)
    }
}

/// A position in a file of this name.
type Location = (String, Position);

/// Names that occur twice.
fn repeated<C: Code>(tree: &Tree<'_>, name: impl Fn(Place) -> Location) -> Vec<Diagnostic<C>> {
    let mut repeated = Vec::new();
    if tree.has_duplicates() {
        tree.duplicates("", &mut repeated);
    }
    let repeated = repeated.into_iter().map(|(pointer, place, first)| {
        let shown = names::shown(pointer.rsplit('/').next().unwrap_or_default());
        let message = format!("`{shown}` is there twice, first in line {}", first.line);
        located(C::DUPLICATE_NAME, message, pointer, name(place))
    });
    repeated.collect()
}

/// What was found, with its positions.
fn all_located<C: Code>(
    report: Report<C>,
    mut find: impl FnMut(&str, bool) -> Location,
) -> Vec<Diagnostic<C>> {
    let found = report.0.into_iter().map(|finding| {
        let location = find(finding.pointer.as_str(), finding.at_name);
        let it = finding.into_diagnostic();
        located(it.code, it.message, it.pointer, location)
    });
    found.collect()
}

fn located<C: Code>(
    code: C,
    message: String,
    pointer: String,
    (file, position): Location,
) -> Diagnostic<C> {
    Diagnostic {
        code,
        severity: code.severity(),
        message,
        pointer,
        file: Some(file),
        position: Some(position),
    }
}
