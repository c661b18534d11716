//! The value of a text.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::source::diagnostic::Code;
use crate::source::order::Order;
use crate::source::pointer::Pointer;
use crate::source::report::Report;
use crate::source::schema::{Codes, Schema, check};
use crate::source::tree::{Node, Tree};

/// A value of a text, as it stands there: the names of objects have their order, and nothing is copied.
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
/// use petalflow_document_model::source::{Diagnostics, Source};
///
/// let source = Source::new("menu.yaml", "soup: [small, large]\nbread: [small]");
/// let (_, found): (_, Diagnostics<Wrong>) = source.inspect_content(|menu, _| {
///     // The order is that of the text.
///     let dishes: Vec<_> = menu.entries()?.map(|(name, _)| name).collect();
///     assert_eq!(dishes, ["soup", "bread"]);
///     let first = menu.get("soup")?.items()?.next()?;
///     assert_eq!(first.to_value(), "small");
///     Some(())
/// });
/// assert!(found.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Content<'t> {
    tree: &'t Tree<'t>,
    /// Whether a name may occur twice in an object.
    may_repeat: bool,
    /// Whether the shorter path is left out.
    is_thorough: bool,
}

impl<'t> Content<'t> {
    pub(crate) fn of(tree: &'t Tree<'t>) -> Self {
        Content {
            tree,
            may_repeat: true,
            is_thorough: false,
        }
    }

    /// No name occurs twice.
    pub(crate) fn of_unique(tree: &'t Tree<'t>) -> Self {
        Content {
            may_repeat: false,
            ..Content::of(tree)
        }
    }

    pub(crate) fn thorough(mut self, is_thorough: bool) -> Self {
        self.is_thorough = is_thorough;
        self
    }

    /// Returns a copy of the value. The names of its objects are in alphabetical order.
    pub fn to_value(self) -> Value {
        self.tree.to_value()
    }

    /// Returns the value of this name, if this is an object that has it.
    pub fn get(self, name: &str) -> Option<Content<'t>> {
        let mut entries = self.entries()?;
        entries.find(|(it, _)| *it == name).map(|(_, value)| value)
    }

    /// Returns the values by their names, if this is an object. A name may occur twice; the first counts.
    pub fn entries(self) -> Option<impl Iterator<Item = (&'t str, Content<'t>)>> {
        match &self.tree.node {
            Node::Object(entries) => {
                let entries = entries.iter();
                Some(entries.map(|entry| (entry.name.as_ref(), Content::of(&entry.value))))
            }
            _ => None,
        }
    }

    /// Returns the values, if this is a list.
    pub fn items(self) -> Option<impl Iterator<Item = Content<'t>>> {
        match &self.tree.node {
            Node::List(items) => Some(items.iter().map(Content::of)),
            _ => None,
        }
    }

    /// Checks a whole document with the schema of a type, and reads the type if nothing is wrong. Names keep their order
    /// in types that have one, such as `IndexMap`.
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
    /// use petalflow_document_model::source::schema::{Codes, Schema};
    /// use petalflow_document_model::source::{Diagnostics, Source};
    ///
    /// let schema = Schema::new(serde_json::json!({ "type": "array", "items": { "type": "integer" } }));
    /// let codes = Codes { name: "field", unknown: Wrong, missing: Wrong, wrong: |_| Wrong, null_is_absent: true };
    /// let read = |text: &str| -> (Option<Vec<i32>>, Diagnostics<Wrong>) {
    ///     Source::new("a.json", text).inspect_content(|content, report| content.read(&schema, codes, report))
    /// };
    /// assert_eq!(read("[1, 2]").0, Some(vec![1, 2]));
    /// assert_eq!(read("[1, true]").1.to_string(), "a.json:1:5: error[W-1]: expected a whole number, not `true`");
    /// ```
    pub fn read<C: Code, T: DeserializeOwned>(
        self,
        schema: &Schema,
        codes: Codes<C>,
        report: &mut Report<C>,
    ) -> Option<T> {
        if let Some(read) = self.read_valid(schema) {
            return Some(read);
        }
        let before = report.0.len();
        let value = self.to_value();
        let checked = check(&schema.value, &value, &Pointer::root(), codes, report);
        if report.0.len() > before {
            return None;
        }
        let read = Order::of(self.tree).read(&checked);
        read.map_err(|error| report.add(C::WRONG_VALUE, Pointer::root(), error.to_string()))
            .ok()
    }

    /// Reads what is right of a document, with empty values in place of what is missing. `None` if the type cannot be read
    /// from that.
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
    /// use petalflow_document_model::source::schema::{Codes, Schema};
    /// use petalflow_document_model::source::{Diagnostics, Source};
    ///
    /// let schema = Schema::new(serde_json::json!({ "type": "array", "items": { "type": "integer" } }));
    /// let codes = Codes { name: "field", unknown: Wrong, missing: Wrong, wrong: |_| Wrong, null_is_absent: true };
    /// let source = Source::new("sizes.json", "[1, true]");
    /// let (sizes, _): (Option<Vec<i32>>, Diagnostics<Wrong>) =
    ///     source.inspect_content(|content, _| content.repaired(&schema, codes));
    /// assert_eq!(sizes.unwrap(), [1, 0]);
    /// ```
    pub fn repaired<C: Code, T: DeserializeOwned>(
        self,
        schema: &Schema,
        codes: Codes<C>,
    ) -> Option<T> {
        let mut report = Report::default();
        let value = self.to_value();
        let checked = check(&schema.value, &value, &Pointer::root(), codes, &mut report);
        Order::of(self.tree).read(&checked).ok()
    }

    /// Reads a value in which the schema finds nothing wrong, and which it does not change. `None` for all others.
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
    /// use petalflow_document_model::source::schema::Schema;
    /// use petalflow_document_model::source::{Diagnostics, Source};
    ///
    /// let schema = Schema::new(serde_json::json!({ "type": "array", "items": { "type": "integer" } }));
    /// let read = |text| -> (Option<Vec<i32>>, Diagnostics<Wrong>) {
    ///     Source::new("sizes.json", text).inspect_content(|content, _| content.read_valid(&schema))
    /// };
    /// assert_eq!(read("[1, 2]").0, Some(vec![1, 2]));
    /// assert_eq!(read("[1, true]").0, None);
    /// ```
    pub fn read_valid<T: DeserializeOwned>(self, schema: &Schema) -> Option<T> {
        // The first of two names counts, and a type would use the last.
        let repeats = || self.may_repeat && self.tree.has_duplicates();
        if self.is_thorough || repeats() || !schema.shapes.fit(self.tree) {
            return None;
        }
        T::deserialize(self.tree).ok()
    }
}
