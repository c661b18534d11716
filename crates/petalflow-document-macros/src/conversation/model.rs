//! The items to generate, with their names in Rust.

use std::collections::HashSet;

use petalflow_document_model::conversations::{Conversation, Next};

use crate::conversation::methods::{self, Method, Use};
use crate::conversation::names;
use crate::conversation::read::Document;
use crate::conversation::shape::{Choice, Field, Outcome, Type};

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) title: String,
    pub(crate) nodes: Vec<Variant>,
    pub(crate) types: Vec<Item>,
    pub(crate) functions: Vec<Function>,
    pub(crate) actions: Vec<Action>,
    /// The node, the function and the name of its code, where it is not that of the document.
    pub(crate) renamed: Vec<[String; 3]>,
}

/// A variant, and what it is called in the document.
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) doc: String,
}

/// A type.
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) kind: ItemKind,
}

pub(crate) enum ItemKind {
    Struct(Vec<NamedField>),
    /// A choice of the model.
    Choice(Vec<Variant>),
    /// A choice of the program, with the name of the variant for all other values.
    Result(Vec<Variant>, String),
}

pub(crate) struct NamedField {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) doc: String,
    pub(crate) ty: Named,
}

/// The type of a field.
pub(crate) enum Named {
    Text,
    Integer,
    Number,
    Bool,
    Object,
    Any,
    List(Box<Named>),
    Optional(Box<Named>),
    Item(String),
}

/// A method for functions.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) handler: String,
    pub(crate) doc: String,
    pub(crate) arguments: Arguments,
    pub(crate) result: Reply,
}

pub(crate) enum Arguments {
    Nothing,
    Struct(String),
    /// An associated type: the document does not describe them.
    Own(String),
}

pub(crate) enum Reply {
    Any,
    /// The field, and the type that chooses.
    Branch(String, Chosen),
    Decision(Chosen),
}

pub(crate) enum Chosen {
    Bool,
    Number,
    Any,
    Item(String),
}

/// A method for actions.
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) handler: String,
    pub(crate) doc: String,
}

impl Model {
    pub(crate) fn new(document: &Document) -> Self {
        match &document.conversation {
            Some(conversation) => of_conversation(conversation),
            None => Model::default(),
        }
    }
}

fn of_conversation(conversation: &Conversation) -> Model {
    let mut methods = methods::of_functions(conversation);
    // A document with errors can have such names.
    methods.retain(|method| names::snake(&method.name).is_some());
    let mut namer = Namer::default();
    namer.used.extend(["Node".into(), "Handlers".into()]);
    // Names that a program writes often are given first.
    let arguments: Vec<Arguments> = methods.iter().map(|it| namer.arguments(it)).collect();
    let replies: Vec<Reply> = methods.iter().map(|it| namer.reply(it)).collect();
    let mut functions = Vec::new();
    let mut renamed = Vec::new();
    let mut names = HashSet::new();
    for ((method, arguments), result) in methods.iter().zip(arguments).zip(replies) {
        if let (Arguments::Struct(name), Some(fields)) = (&arguments, &method.arguments) {
            let doc = format!("The arguments of the function `{}`.", method.name);
            namer.item_struct(name.clone(), doc, fields);
        }
        if method.is_renamed {
            renamed.extend(method.uses.iter().map(|it| {
                let node = it.node.unwrap_or_default().to_owned();
                [node, it.function.name.clone(), method.handler.clone()]
            }));
        }
        // A document with errors can have the same name twice.
        if let Some(name) = names::snake(&method.name)
            && names.insert(name.clone())
        {
            functions.push(Function {
                name,
                handler: method.handler.clone(),
                doc: function_doc(method),
                arguments,
                result,
            });
        }
    }
    let mut actions = Vec::new();
    for action in methods::of_actions(conversation) {
        if let Some(name) = methods::action_name(action.handler, &methods)
            && names.insert(name.clone())
        {
            let nodes = listed(action.nodes.iter().copied());
            actions.push(Action {
                name,
                handler: action.handler.into(),
                doc: format!("The action `{}` of {nodes}.", action.handler),
            });
        }
    }
    Model {
        title: conversation.name.clone().unwrap_or_default(),
        nodes: nodes(conversation),
        types: namer.items,
        functions,
        actions,
        renamed,
    }
}

fn nodes(conversation: &Conversation) -> Vec<Variant> {
    let nodes: Vec<String> = conversation.nodes.keys().cloned().collect();
    let mut nodes = variants(&nodes, "Node", &[]);
    for (node, (name, it)) in nodes.iter_mut().zip(&conversation.nodes) {
        node.doc = match &it.label {
            Some(label) if label != name => format!("The node `{name}`: {label}"),
            _ => format!("The node `{name}`."),
        };
    }
    nodes
}

fn function_doc(method: &Method<'_>) -> String {
    let first = method.uses[0];
    let description = first.function.description.as_deref().unwrap_or_default();
    let places = match first.node {
        None => "all nodes".to_owned(),
        Some(_) => listed(method.uses.iter().filter_map(|it| it.node)),
    };
    let mut lines = vec![
        description.to_owned(),
        String::new(),
        format!("The function `{}` of {places}.", first.function.name),
    ];
    lines.extend(method.uses.iter().take(1).filter_map(after));
    lines.join("\n").trim_start().to_owned()
}

/// Which node follows.
fn after(function: &Use<'_>) -> Option<String> {
    Some(match &function.function.next {
        Next::Stay => return None,
        Next::Node(node) => format!("The node `{node}` follows."),
        Next::Branch(branch) => {
            let cases = branch.cases.iter();
            let mut cases: Vec<String> = cases
                .map(|(case, node)| format!("`{case}` leads to `{node}`"))
                .collect();
            let default = branch.default.as_ref();
            cases.extend(default.map(|node| format!("everything else to `{node}`")));
            format!(
                "The field `{}` of the result decides: {}.",
                branch.field,
                cases.join(", ")
            )
        }
        Next::Decision(decision) => {
            let conditions = decision.conditions.iter().map(|it| {
                format!(
                    "`result {} {}` leads to `{}`",
                    it.operator.as_str(),
                    it.value,
                    it.node
                )
            });
            let default = format!("everything else to `{}`", decision.default);
            let all: Vec<String> = conditions.chain([default]).collect();
            format!("The result decides: {}.", all.join(", "))
        }
    })
}

fn listed<'a>(nodes: impl Iterator<Item = &'a str>) -> String {
    let nodes: Vec<String> = nodes.map(|node| format!("`{node}`")).collect();
    match nodes.as_slice() {
        [node] => format!("the node {node}"),
        nodes if nodes.len() > 5 => format!("{} nodes", nodes.len()),
        nodes => format!("the nodes {}", nodes.join(", ")),
    }
}

/// Variants, with numbers where names are the same or cannot be names.
fn variants(values: &[String], prefix: &str, used: &[&str]) -> Vec<Variant> {
    let names: Vec<Option<String>> = values.iter().map(|value| names::camel(value)).collect();
    let mut seen = HashSet::new();
    let mut twice: HashSet<&str> = used.iter().copied().collect();
    for name in names.iter().flatten() {
        if !seen.insert(name.as_str()) {
            twice.insert(name);
        }
    }
    let variants = names.iter().zip(values).enumerate();
    variants
        .map(|(index, (name, value))| {
            let name = match name {
                Some(name) if !twice.contains(name.as_str()) => name.clone(),
                _ => {
                    let mut name = format!("{prefix}{}", index + 1);
                    while seen.contains(name.as_str()) {
                        name.push('_');
                    }
                    name
                }
            };
            Variant {
                name,
                value: value.clone(),
                doc: format!("`{value}`"),
            }
        })
        .collect()
}

/// Gives each type a name.
#[derive(Default)]
struct Namer {
    used: HashSet<String>,
    /// The associated types.
    own: HashSet<String>,
    items: Vec<Item>,
}

impl Namer {
    fn arguments(&mut self, method: &Method<'_>) -> Arguments {
        let name = names::camel(&method.name).unwrap_or_default();
        match &method.arguments {
            None => Arguments::Own(free(&mut self.own, name)),
            Some(fields) if fields.is_empty() => Arguments::Nothing,
            Some(_) if self.used.contains(&name) => {
                Arguments::Struct(self.free(format!("{name}Arguments")))
            }
            Some(_) => Arguments::Struct(self.free(name)),
        }
    }

    fn reply(&mut self, method: &Method<'_>) -> Reply {
        match &method.outcome {
            Outcome::Any => Reply::Any,
            Outcome::Branch { field, choice } => {
                Reply::Branch(field.clone(), self.chosen(method, choice))
            }
            Outcome::Decision(choice) => Reply::Decision(self.chosen(method, choice)),
        }
    }

    fn chosen(&mut self, method: &Method<'_>, choice: &Choice) -> Chosen {
        match choice {
            Choice::Bool => Chosen::Bool,
            Choice::Number => Chosen::Number,
            Choice::Any => Chosen::Any,
            Choice::Words(words) => {
                let name = names::camel(&method.name).unwrap_or_default();
                let name = self.free(format!("{name}Result"));
                let is_other = |word: &String| names::camel(word).as_deref() == Some("Other");
                let other = if words.iter().any(is_other) {
                    "AnyOther"
                } else {
                    "Other"
                };
                self.items.push(Item {
                    name: name.clone(),
                    doc: format!("What the function `{}` results in.", method.name),
                    kind: ItemKind::Result(variants(words, "Case", &[other]), other.into()),
                });
                Chosen::Item(name)
            }
        }
    }

    fn item_struct(&mut self, name: String, doc: String, fields: &[Field]) {
        let mut used = HashSet::new();
        let fields = fields.iter().filter_map(|field| {
            let field_name = names::snake(&field.key).filter(|it| used.insert(it.clone()))?;
            let doc = field.doc.clone();
            Some(NamedField {
                ty: self.named(&field.ty, &name, &field.key),
                name: field_name,
                doc: doc.unwrap_or_else(|| format!("The parameter `{}`.", field.key)),
                key: field.key.clone(),
            })
        });
        let kind = ItemKind::Struct(fields.collect());
        self.items.push(Item { name, doc, kind });
    }

    fn named(&mut self, ty: &Type, owner: &str, key: &str) -> Named {
        let item = |namer: &mut Self| {
            let name = names::camel(key).unwrap_or_default();
            namer.free(format!("{owner}{name}"))
        };
        match ty {
            Type::Text => Named::Text,
            Type::Integer => Named::Integer,
            Type::Number => Named::Number,
            Type::Bool => Named::Bool,
            Type::Object => Named::Object,
            Type::Any => Named::Any,
            Type::List(inner) => Named::List(Box::new(self.named(inner, owner, key))),
            Type::Optional(inner) => Named::Optional(Box::new(self.named(inner, owner, key))),
            Type::Struct(fields) => {
                let name = item(self);
                let doc = format!("The value of the parameter `{key}`.");
                self.item_struct(name.clone(), doc, fields);
                Named::Item(name)
            }
            Type::Choice(words) => {
                let name = item(self);
                self.items.push(Item {
                    name: name.clone(),
                    doc: format!("The values of the parameter `{key}`."),
                    kind: ItemKind::Choice(variants(words, "Value", &[])),
                });
                Named::Item(name)
            }
        }
    }

    fn free(&mut self, name: String) -> String {
        free(&mut self.used, name)
    }
}

/// The name, with a number if it is used.
fn free(used: &mut HashSet<String>, name: String) -> String {
    let mut numbers = 2..;
    let mut free = name.clone();
    while !used.insert(free.clone()) {
        free = format!("{name}{}", numbers.next().unwrap_or_default());
    }
    free
}
