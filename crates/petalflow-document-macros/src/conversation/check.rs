//! Rules for documents that are valid, but cannot become Rust.

use std::collections::HashMap;

use petalflow_document_model::conversations::Conversation;
use petalflow_document_model::source::{Code, Diagnostics, Pointer, Report, Severity, Source};
use serde_json::Value;

use crate::conversation::methods::{self, Use};
use crate::conversation::names;
use crate::conversation::shape::{Field, Type};

/// What is wrong with the names of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wrong {
    Text,
    /// A name has no character that a name of Rust can have.
    NoName,
    /// Two names become the same.
    SameName,
}

impl Code for Wrong {
    const SYNTAX: Self = Wrong::Text;
    const TOO_LARGE: Self = Wrong::Text;
    const WRONG_VALUE: Self = Wrong::Text;
    const DUPLICATE_NAME: Self = Wrong::Text;

    fn as_str(&self) -> &'static str {
        match self {
            Wrong::Text => "CV-101",
            Wrong::NoName => "CV-201",
            Wrong::SameName => "CV-202",
        }
    }

    fn severity(&self) -> Severity {
        Severity::Error
    }
}

/// Finds the names that cannot be names of methods and fields.
pub(crate) fn names(source: &Source, conversation: &Conversation) -> Vec<String> {
    // Only a mistake needs the text again, for its place.
    let findings = findings(conversation);
    if findings.is_empty() {
        return Vec::new();
    }
    let (_, diagnostics): (Option<()>, Diagnostics<Wrong>) =
        source.inspect(|value, report: &mut Report<Wrong>| {
            for finding in findings {
                let pointer = finding.place.pointer(value);
                if finding.at_name {
                    report.add_at_name(finding.code, pointer, finding.message);
                } else {
                    report.add(finding.code, pointer, finding.message);
                }
            }
            None
        });
    diagnostics.iter().map(ToString::to_string).collect()
}

struct Finding<'c> {
    code: Wrong,
    place: Place<'c>,
    at_name: bool,
    message: String,
}

/// A place in a document of any form.
enum Place<'c> {
    Function(Use<'c>),
    /// The way from the properties of the function.
    Property(Use<'c>, Vec<String>),
    Action(&'c str, &'static str, usize),
}

fn findings(conversation: &Conversation) -> Vec<Finding<'_>> {
    let mut findings = Vec::new();
    let functions = methods::of_functions(conversation);
    let mut known = HashMap::new();
    for method in &functions {
        let first = method.uses[0];
        let name = &method.name;
        let mut add = |code, message| {
            findings.push(Finding {
                code,
                place: Place::Function(first),
                at_name: false,
                message,
            });
        };
        match names::snake(name) {
            None => add(Wrong::NoName, no_name("the function", name)),
            Some(rust) => {
                if let Some(other) = known.insert(rust.clone(), name.clone()) {
                    let what = "the functions";
                    add(Wrong::SameName, same(what, &other, name, "method", &rust));
                }
            }
        }
    }
    for method in &functions {
        let fields = method.arguments.as_deref().unwrap_or_default();
        let owner = format!("function `{}`", method.uses[0].function.name);
        let mut found = Vec::new();
        check_fields(fields, &owner, &[], &mut found);
        findings.extend(found.into_iter().map(|(code, way, message)| Finding {
            code,
            place: Place::Property(method.uses[0], way),
            at_name: true,
            message,
        }));
    }
    for action in methods::of_actions(conversation) {
        let (node, list, index) = action.first;
        let mut add = |code, message| {
            findings.push(Finding {
                code,
                place: Place::Action(node, list, index),
                at_name: false,
                message,
            });
        };
        let name = action.handler;
        match methods::action_name(name, &functions) {
            None => add(Wrong::NoName, no_name("the action", name)),
            Some(rust) => {
                if let Some(other) = known.insert(rust.clone(), name.to_owned()) {
                    let what = "the handlers of actions";
                    add(Wrong::SameName, same(what, &other, name, "method", &rust));
                }
            }
        }
    }
    findings
}

/// A name of a property that is wrong: the way to it, and why.
type WrongField = (Wrong, Vec<String>, String);

fn check_fields(fields: &[Field], owner: &str, way: &[String], found: &mut Vec<WrongField>) {
    let mut known = HashMap::new();
    for field in fields {
        let way = [way, std::slice::from_ref(&field.key)].concat();
        match names::snake(&field.key) {
            None => found.push((
                Wrong::NoName,
                way.clone(),
                no_name(&format!("{owner}: the parameter"), &field.key),
            )),
            Some(rust) => {
                if let Some(other) = known.insert(rust.clone(), &field.key) {
                    let what = format!("{owner}: the parameters");
                    let message = same(&what, other, &field.key, "field", &rust);
                    found.push((Wrong::SameName, way.clone(), message));
                }
            }
        }
        check_type(&field.ty, owner, way, found);
    }
}

fn check_type(ty: &Type, owner: &str, mut way: Vec<String>, found: &mut Vec<WrongField>) {
    match ty {
        Type::Optional(inner) => check_type(inner, owner, way, found),
        Type::List(inner) => {
            way.push("items".into());
            check_type(inner, owner, way, found);
        }
        Type::Struct(fields) => {
            way.push("properties".into());
            check_fields(fields, owner, &way, found);
        }
        _ => {}
    }
}

fn no_name(what: &str, name: &str) -> String {
    format!("{what} `{name}` has no letter or digit for a name in Rust: rename it")
}

fn same(what: &str, first: &str, second: &str, kind: &str, rust: &str) -> String {
    if first == second {
        return format!("two of {what} are called `{first}`: rename one of them");
    }
    format!("{what} `{first}` and `{second}` would both be the {kind} `{rust}`: rename one of them")
}

impl Place<'_> {
    fn pointer(&self, document: &Value) -> Pointer {
        match self {
            Place::Function(function) => of_function(document, *function).name("name"),
            Place::Property(function, way) => {
                let function = of_function(document, *function);
                let parent = match document.pointer(function.as_str()) {
                    Some(value) if value.get("parameters").is_some() => function.name("parameters"),
                    _ => function,
                };
                let way = way.iter();
                way.fold(parent.name("properties"), |it, name| it.name(name))
            }
            Place::Action(node, list, index) => {
                let action = of_node(document, node).name(list).item(*index);
                match document.pointer(action.as_str()) {
                    Some(value) if value.get("handler").is_some() => action.name("handler"),
                    _ => action.name("type"),
                }
            }
        }
    }
}

/// The functions and actions of a node are below it. In the editor's form nodes are a list.
fn of_node(document: &Value, node: &str) -> Pointer {
    let nodes = Pointer::root().name("nodes");
    let list = document.get("nodes").and_then(Value::as_array);
    let index = list.and_then(|it| it.iter().position(|it| it["id"] == node));
    match index {
        Some(index) => nodes.item(index).name("data"),
        None => nodes.name(node),
    }
}

/// In the static forms a function is inside of a tool.
fn of_function(document: &Value, function: Use<'_>) -> Pointer {
    let functions = match function.node {
        None => Pointer::root().name("global_functions"),
        Some(node) => of_node(document, node).name("functions"),
    };
    let tool = functions.item(function.index);
    match document.pointer(tool.as_str()) {
        Some(value) if value.get("function").is_some() => tool.name("function"),
        _ => tool,
    }
}

#[cfg(test)]
mod tests {
    use petalflow_document_model::conversations::Source;

    use crate::conversation::read;

    fn errors(name: &str, text: &str) -> Vec<String> {
        read::of_source(&Source::new(name, text)).errors
    }

    #[test]
    fn names_that_rust_cannot_have_are_errors_in_each_form() {
        let static_form = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [], "functions": [
            { "type": "function", "function": { "name": "order", "parameters": { "properties": {
                "first-name": { "type": "string" },
                "first_name": { "type": "string" },
                "?": { "type": "string" } } } } }] } } }"#;
        assert_eq!(
            errors("a.json", static_form),
            [
                "a.json:4:17: error[CV-202]: function `order`: the parameters `first-name` and `first_name` would both \
                 be the field `first_name`: rename one of them",
                "a.json:5:17: error[CV-201]: function `order`: the parameter `?` has no letter or digit for a name in Rust: \
                 rename it",
            ]
        );
        let declarative = "
initial_node: a
nodes:
  a:
    task_messages: []
    functions:
      - name: get_order
      - name: getOrder
    pre_actions:
      - type: function
        handler: '!'
      - type: beepLoud
      - type: function
        handler: beep_loud
";
        assert_eq!(
            errors("a.yaml", declarative),
            [
                "a.yaml:8:15: error[CV-202]: the functions `get_order` and `getOrder` would both be the method \
                 `get_order`: rename one of them",
                "a.yaml:11:18: error[CV-201]: the action `!` has no letter or digit for a name in Rust: rename it",
                "a.yaml:14:18: error[CV-202]: the handlers of actions `beepLoud` and `beep_loud` would both be the method \
                 `beep_loud`: rename one of them",
            ]
        );
    }
}
