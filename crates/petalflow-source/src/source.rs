//! The text of a document, with its name and format.

use std::path::Path;

use serde_json::Value;

use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Position};
use crate::positions::{Positions, TextPositions};
use crate::report::Report;
use crate::tree::{MAX_BYTES, ParseError, Problem, Tree};
use crate::{json, names, quick, yaml};

/// The syntax of a document.
///
/// ```
/// use petalflow_source::{Format, Source};
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
/// use petalflow_source::{Format, Source};
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
            is_thorough: false,
        }
    }

    /// Reads a file.
    ///
    /// ```
    /// use petalflow_source::Source;
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
        use std::io::Read as _;
        let path = path.as_ref();
        let mut text = String::new();
        // One byte more, so that `check` sees that it is too large.
        let file = std::fs::File::open(path)?;
        file.take(
            u64::try_from(MAX_BYTES)
                .unwrap_or(u64::MAX)
                .saturating_add(1),
        )
        .read_to_string(&mut text)?;
        Ok(Source::new(path.display().to_string(), text))
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
    /// # impl petalflow_source::Code for Wrong {
    /// #     const SYNTAX: Self = Wrong;
    /// #     const TOO_LARGE: Self = Wrong;
    /// #     const WRONG_VALUE: Self = Wrong;
    /// #     const DUPLICATE_NAME: Self = Wrong;
    /// #     fn as_str(&self) -> &'static str { "W-1" }
    /// #     fn severity(&self) -> petalflow_source::Severity { petalflow_source::Severity::Error }
    /// # }
    /// use petalflow_source::{Diagnostics, Report, Source};
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
            let all = self.all_located(report, |pointer, at_name| positions.find(pointer, at_name));
            return (checked, Diagnostics::new(all));
        }
        let tree = match self.parse() {
            Ok(tree) => tree,
            Err(error) => {
                let code = error.kind.code();
                let diagnostic = self.located(code, error.message, String::new(), error.position);
                return (None, Diagnostics::new(vec![diagnostic]));
            }
        };
        let mut all = self.repeated(&tree);
        let content = Content::of(&tree).thorough(self.is_thorough);
        let checked = check(content, &mut report);
        let mut positions = Positions::new(&tree);
        all.extend(self.all_located(report, |pointer, at_name| positions.find(pointer, at_name)));
        (checked, Diagnostics::new(all))
    }

    /// Names that occur twice.
    fn repeated<C: Code>(&self, tree: &Tree<'_>) -> Vec<Diagnostic<C>> {
        let mut repeated = Vec::new();
        if tree.has_duplicates() {
            tree.duplicates("", &mut repeated);
        }
        let repeated = repeated.into_iter().map(|(pointer, position, first)| {
            let name = names::shown(pointer.rsplit('/').next().unwrap_or_default());
            let message = format!("`{name}` is there twice, first in line {}", first.line);
            self.located(C::DUPLICATE_NAME, message, pointer, position)
        });
        repeated.collect()
    }

    /// What was found, with its positions.
    fn all_located<C: Code>(
        &self,
        report: Report<C>,
        mut find: impl FnMut(&str, bool) -> Position,
    ) -> Vec<Diagnostic<C>> {
        let found = report.0.into_iter().map(|finding| {
            let position = find(finding.pointer.as_str(), finding.at_name);
            let it = finding.into_diagnostic();
            self.located(it.code, it.message, it.pointer, position)
        });
        found.collect()
    }

    fn located<C: Code>(
        &self,
        code: C,
        message: String,
        pointer: String,
        position: Position,
    ) -> Diagnostic<C> {
        Diagnostic {
            code,
            severity: code.severity(),
            message,
            pointer,
            file: Some(self.name.clone()),
            position: Some(position),
        }
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

    fn parse(&self) -> Result<Tree<'_>, ParseError> {
        if self.text.len() > MAX_BYTES {
            return Err(ParseError {
                kind: Problem::TooLarge,
                message: format!("the document has more than {MAX_BYTES} bytes"),
                position: Position { line: 1, column: 1 },
            });
        }
        let text = self.plain_text();
        let tree = match self.format {
            Format::Json => json::parse(text),
            Format::Yaml => yaml::parse(text),
        }?;
        tree.check_paths(0)?;
        Ok(tree)
    }
}
