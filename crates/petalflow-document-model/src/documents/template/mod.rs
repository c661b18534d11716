//! The templates of documents, which are those of Go.

mod arguments;
mod ast;
mod blocks;
mod builtins;
mod compare;
mod error;
mod execution;
mod expressions;
mod functions;
mod lexer;
mod limits;
mod missing;
mod needed;
mod number;
mod pieces;
mod printf;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;

use ast::{Named, Node};
pub use error::{RenderError, TemplateError};
use execution::Execution;
pub use missing::MissingValue;
pub use value::Variables;

/// A parsed template in the language of Go's `text/template`.
///
/// It knows the whole language and its functions except `js` and `call`, and those of PetalFlow: `json` `jsonPretty` `join`
/// `split` `upper` `lower` `trim` `contains` `hasPrefix` `hasSuffix` `default` `coalesce`. These are the differences:
///
/// - Lists, objects and `null` are written as JSON.
/// - Whole numbers of JSON are whole numbers. All numbers can be compared with each other.
/// - A missing value is false in `if`, `with` and `range` and for `and`, `or`, `not`, `default` and `coalesce`. Elsewhere it
///   is an error, an empty text, or `<no value>` as in Go, as [`MissingValue`] says. A field of `null` is missing.
/// - `printf` with a value that its verb does not take is an error. `%s` takes any value.
/// - Mistakes in a part that is not executed are errors too.
///
/// ```
/// use petalflow_document_model::documents::template::{MissingValue, Template, Variables};
/// use serde_json::json;
///
/// let template = Template::parse("{{range $i, $name := .names}}{{if $i}}, {{end}}{{upper $name}}{{end}}")?;
/// let vars = json!({ "names": ["ann", "bob"] });
/// let vars = Variables::new(vars.as_object().expect("an object"));
/// assert_eq!(template.render(&vars, MissingValue::Error)?, "ANN, BOB");
///
/// let error = Template::parse("{{name}}").unwrap_err();
/// assert_eq!(error.to_string(),
///     "the template is wrong at position 2: there is no function `name`: a variable is written `{{.name}}`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Template {
    nodes: Vec<Node>,
    named: Named,
    read: BTreeSet<String>,
    reads_all: bool,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// If it is not a template, or exceeds a limit: 500 words in an action, 20 parentheses or 40 blocks in each other.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let blocks::Parsed {
            nodes,
            named,
            names,
        } = blocks::parse(text)?;
        Ok(Template {
            nodes,
            named,
            read: names.read,
            reads_all: names.reads_all,
        })
    }

    /// Whether the template may read a variable: it has its name, or reads all variables as one value.
    pub fn reads(&self, name: &str) -> bool {
        self.reads_all || self.read.contains(name)
    }

    /// The variables that the template uses where a missing value is an error or `<no value>`, by the text alone: those that a
    /// condition asks for before they are used are not among them.
    ///
    /// ```
    /// use petalflow_document_model::documents::template::Template;
    ///
    /// let template = Template::parse("{{.name}} {{if .nick}}{{.nick}}{{end}} {{.city | default \"nowhere\"}}")?;
    /// assert_eq!(template.needed().into_iter().collect::<Vec<_>>(), ["name"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn needed(&self) -> BTreeSet<String> {
        needed::needed(&self.nodes)
    }

    /// Fills the template.
    ///
    /// # Errors
    ///
    /// If a value is missing, or an action cannot be executed with the values, or a limit is exceeded: a million steps, a
    /// text of 16 MiB, 64 MiB that functions make, 1 GiB that functions read.
    pub fn render(
        &self,
        variables: &Variables<'_>,
        missing: MissingValue,
    ) -> Result<String, RenderError> {
        Execution::new(&self.named, variables, missing).run(&self.nodes)
    }
}
