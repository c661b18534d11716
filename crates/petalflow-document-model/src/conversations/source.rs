//! The text of a conversation document: its form is detected, and it is checked.

use std::sync::LazyLock;

use crate::source::foreign::foreign;
use crate::source::names::similar;
use crate::source::schema::{Schema, without_examples};
use crate::source::{Codes, Content, Pointer, Report, Severity, Source};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conversations::config::FlowConfig;
use crate::conversations::conversation::Conversation;
use crate::conversations::editor::EditorDocument;
use crate::conversations::finding::{self, Code, Diagnostics, Finding};
use crate::conversations::legacy::{StaticFlow, UNREAD};

/// A document of any form.
///
/// ```
/// use petalflow_document_model::conversations::{Document, Source, check};
///
/// let text = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#;
/// let checked = check(&Source::new("a.json", text))?;
/// assert!(matches!(checked.document, Document::Config(_)));
/// # Ok::<(), petalflow_document_model::conversations::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// The declarative form.
    Config(FlowConfig),
    /// The editor's form.
    Editor(EditorDocument),
    /// One of the static forms.
    Static(StaticFlow),
}

/// A document without errors.
///
/// ```
/// use petalflow_document_model::conversations::{Source, check};
///
/// let text = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] }, "b": { "task_messages": [] } } }"#;
/// let checked = check(&Source::new("a.json", text))?;
/// assert_eq!(checked.conversation.nodes.len(), 2);
/// assert!(checked.warnings.is_empty());
/// # Ok::<(), petalflow_document_model::conversations::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The document.
    pub document: Document,
    /// What it means.
    pub conversation: Conversation,
    /// What is probably not as its author wants.
    pub warnings: Diagnostics,
}

/// Reads and checks the text of a document. The form is found by its fields.
///
/// # Errors
///
/// All diagnostics, if one of them is an error. Nodes that do not exist and names that are used twice are errors in each
/// form, because a program cannot run such a document.
///
/// ```
/// use petalflow_document_model::conversations::{Source, check};
///
/// let source = Source::new("a.json", r#"{ "initial_node": "a", "nodes": { "a": { "task_message": [] } } }"#);
/// let errors = check(&source).unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "a.json:1:42: error[CV-105]: there is no field `task_message`; did you mean `task_messages`?",
/// );
/// ```
pub fn check(source: &Source) -> Result<Checked, Diagnostics> {
    // References are checked only in a document that has the right form: what is left out would be missed by them.
    let (checked, diagnostics) = source.inspect_content(inspect);
    match checked {
        Some((document, Some(conversation))) if !diagnostics.has_errors() => Ok(Checked {
            document,
            conversation,
            warnings: diagnostics,
        }),
        _ => Err(diagnostics),
    }
}

/// The form of a document.
pub(crate) enum Form {
    Config,
    Editor,
    Static,
}

pub(crate) fn form(content: Content<'_>) -> Option<Form> {
    let nodes = content.get("nodes")?;
    if nodes.items().is_some() {
        return Some(Form::Editor);
    }
    let mut entries = nodes.entries()?;
    let is_declarative = content.get("global_functions").is_some()
        || nodes.entries()?.any(|(_, node)| is_declarative(node));
    Some(
        if entries.any(|(_, node)| is_static(node)) && !is_declarative {
            Form::Static
        } else {
            Form::Config
        },
    )
}

pub(crate) fn inspect(
    content: Content<'_>,
    report: &mut Report<Code>,
) -> Option<(Document, Option<Conversation>)> {
    if let Some(message) = foreign(content) {
        report.add(Code::UnknownForm, Pointer::root(), message);
        return None;
    }
    Some(match form(content) {
        Some(Form::Editor) => {
            let findings = EditorDocument::findings_for_run;
            let (document, is_right) = read_and_check(content, &EDITOR, findings, report)?;
            let conversation = is_right.then(|| Conversation::of_editor(&document));
            (Document::Editor(document), conversation)
        }
        Some(Form::Static) => {
            let (document, is_right) =
                read_and_check(content, &STATIC, StaticFlow::findings, report)?;
            let conversation = is_right.then(|| Conversation::of_static(&document));
            (Document::Static(document), conversation)
        }
        Some(Form::Config) => {
            let (document, is_right) =
                read_and_check(content, &CONFIG, FlowConfig::findings, report)?;
            let conversation = is_right.then(|| Conversation::of_config(&document));
            (Document::Config(document), conversation)
        }
        None => {
            let names = content.entries().into_iter().flatten().map(|it| it.0);
            let hint = match similar("nodes", names) {
                Some(name) => format!("; did you mean `nodes` by `{name}`?"),
                None => String::new(),
            };
            let message = format!(
                "the document is not a conversation flow: it has no `nodes` (a list in the editor's form, an object in the others){hint}"
            );
            report.add(Code::UnknownForm, Pointer::root(), message);
            return None;
        }
    })
}

/// Reads a document and reports what its schema and its rules find, all at once. Returns the document, and whether it has
/// no error. `None` if the schema finds an error.
fn read_and_check<T: DeserializeOwned>(
    content: Content<'_>,
    schema: &Schema,
    findings: fn(&T) -> Vec<Finding>,
    report: &mut Report<Code>,
) -> Option<(T, bool)> {
    let before = report.0.len();
    if let Some(document) = content.read(schema, CODES, report) {
        let is_right = reports_no_error(findings(&document), report);
        return Some((document, is_right));
    }
    // The rules also check what the schema has accepted.
    if let Some(document) = content.repaired(schema, CODES) {
        let wrong: Vec<String> = report.0[before..]
            .iter()
            .map(|finding| finding.pointer.to_string())
            .collect();
        let mut others = findings(&document);
        others.retain(|finding| !follows(finding, &wrong));
        finding::report(others, report);
    }
    None
}

/// Whether a finding may follow from values that the schema has refused.
fn follows(finding: &Finding, wrong: &[String]) -> bool {
    let is_inside = |inner: &str, outer: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let at = finding.pointer.as_str();
    let is_near = |wrong: &String| is_inside(at, wrong) || is_inside(wrong, at);
    // A field that is missing because its name is misspelt, or names in a list that the field beside it declares.
    let is_beside = |wrong: &String| {
        let object = parent(wrong);
        object.is_some() && (parent(at) == object || parent(at).and_then(parent) == object)
    };
    let refers = matches!(finding.code, Code::UnknownNode | Code::BadParameter);
    // A node without its name is a node that others do not find.
    let hides_node = |wrong: &String| {
        let parts: Vec<&str> = wrong.split('/').skip(1).collect();
        matches!(
            parts[..],
            [] | ["nodes"] | ["nodes", _] | ["nodes", _, "id"]
        )
    };
    finding.severity != Severity::Error
        || wrong.iter().any(is_near)
        || (refers && wrong.iter().any(is_beside))
        || (finding.code == Code::UnknownNode && wrong.iter().any(hides_node))
}

/// The pointer to the object or the list that has this value.
fn parent(pointer: &str) -> Option<&str> {
    pointer.rsplit_once('/').map(|(parent, _)| parent)
}

/// Reports what was found. Returns whether nothing of it is an error.
fn reports_no_error(findings: Vec<Finding>, report: &mut Report<Code>) -> bool {
    let is_right = findings.iter().all(|it| it.severity != Severity::Error);
    finding::report(findings, report);
    is_right
}

/// Whether a function of a node has what only the declarative form has.
fn is_declarative(node: Content<'_>) -> bool {
    let functions = node.get("functions").and_then(Content::items);
    functions.into_iter().flatten().any(|function| {
        let target = function.get("transition_to");
        function.get("transition_only").is_some() || target.is_some_and(|it| it.entries().is_some())
    })
}

/// Whether a node has what only the static forms have: lists of messages by their old names, or functions with parameters.
fn is_static(node: Content<'_>) -> bool {
    let has_tools = || {
        let functions = node.get("functions").and_then(Content::items);
        functions.is_some_and(|mut it| {
            it.any(|tool| {
                let mut fields = UNREAD.iter().chain(["handler"].iter());
                fields.any(|field| tool.get(field).is_some())
            })
        })
    };
    node.get("messages").is_some() || node.get("role_messages").is_some() || has_tools()
}

pub(crate) const CODES: Codes<Code> = Codes {
    name: "field",
    unknown: Code::UnknownField,
    missing: Code::MissingField,
    wrong: |_| Code::WrongValue,
    null_is_absent: false,
};

pub(crate) static CONFIG: LazyLock<Schema> = LazyLock::new(|| Schema::new(config_schema()));
pub(crate) static EDITOR: LazyLock<Schema> = LazyLock::new(|| Schema::new(editor_schema()));
pub(crate) static STATIC: LazyLock<Schema> = LazyLock::new(|| Schema::new(static_schema()));

/// Returns the JSON Schema of the declarative form.
///
/// ```
/// let schema = petalflow_document_model::conversations::config_schema();
/// assert_eq!(schema["additionalProperties"], false);
/// ```
pub fn config_schema() -> Value {
    of::<FlowConfig>()
}

/// Returns the JSON Schema of the editor's form.
///
/// ```
/// let schema = petalflow_document_model::conversations::editor_schema();
/// assert_eq!(schema["properties"]["nodes"]["minItems"], 1);
/// ```
pub fn editor_schema() -> Value {
    of::<EditorDocument>()
}

/// Returns the JSON Schema of the static forms.
///
/// ```
/// let schema = petalflow_document_model::conversations::static_schema();
/// assert_eq!(schema["required"][0], "initial_node");
/// ```
pub fn static_schema() -> Value {
    of::<StaticFlow>()
}

fn of<T: JsonSchema>() -> Value {
    let mut schema = without_examples(schemars::schema_for!(T).to_value());
    lists_are_lists(&mut schema);
    schema
}

/// Lists and objects that may be absent are not `null`: upstream no form allows it.
fn lists_are_lists(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(types)) = fields.get("type")
                && let [kind, null] = &types[..]
                && null == "null"
                && (kind == "array" || kind == "object")
            {
                let kind = kind.clone();
                fields.insert("type".into(), kind);
            }
            fields.values_mut().for_each(lists_are_lists);
        }
        Value::Array(items) => items.iter_mut().for_each(lists_are_lists),
        _ => {}
    }
}
