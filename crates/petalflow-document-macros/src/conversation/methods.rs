//! The methods of the trait: which functions have the same code.

use std::collections::HashMap;

use petalflow_document_model::conversations::{Action, Conversation, Function, Handler, Node};

use crate::conversation::names;
use crate::conversation::shape::{self, Field, Outcome};

/// A method for functions.
pub(crate) struct Method<'c> {
    /// What it is called in the document.
    pub(crate) name: String,
    /// The name of its code at run time.
    pub(crate) handler: String,
    /// Where the functions are. There is at least one.
    pub(crate) uses: Vec<Use<'c>>,
    /// The arguments, if the document describes them.
    pub(crate) arguments: Option<Vec<Field>>,
    pub(crate) outcome: Outcome,
    /// Whether the handler has a name that the document does not have.
    pub(crate) is_renamed: bool,
}

/// A function at a node.
#[derive(Clone, Copy)]
pub(crate) struct Use<'c> {
    /// `None` if it is a global function.
    pub(crate) node: Option<&'c str>,
    /// Its index in the list of functions.
    pub(crate) index: usize,
    pub(crate) function: &'c Function,
}

impl Use<'_> {
    fn arguments(&self) -> Option<Vec<Field>> {
        self.function.parameters.as_ref().map(shape::fields)
    }
}

/// The methods, in the order of the document.
///
/// Functions with the same handler are one method if their arguments and results have the same types. Otherwise each is a
/// method with the name of its node before its own.
pub(crate) fn of_functions(conversation: &Conversation) -> Vec<Method<'_>> {
    let mut methods = Vec::new();
    for (handler, uses) in by_handler(conversation) {
        let first = uses[0];
        let arguments = first.arguments();
        let outcome = shape::outcome(first.function);
        let is_same =
            |it: &Use<'_>| it.arguments() == arguments && shape::outcome(it.function) == outcome;
        if uses[1..].iter().all(is_same) {
            methods.push(Method {
                name: handler.into(),
                handler: handler.into(),
                uses,
                arguments,
                outcome,
                is_renamed: false,
            });
            continue;
        }
        methods.extend(uses.into_iter().map(|it| {
            let name = &it.function.name;
            let name = match it.node {
                Some(node) => format!("{node}_{name}"),
                None => name.clone(),
            };
            Method {
                handler: format!(
                    "{}/{}",
                    it.node.unwrap_or("global_functions"),
                    it.function.name
                ),
                name,
                uses: vec![it],
                arguments: it.arguments(),
                outcome: shape::outcome(it.function),
                is_renamed: true,
            }
        }));
    }
    methods
}

fn by_handler(conversation: &Conversation) -> Vec<(&str, Vec<Use<'_>>)> {
    let of_nodes = conversation
        .nodes
        .iter()
        .map(|(name, node)| (Some(name.as_str()), &node.functions));
    let globals = std::iter::once((None, &conversation.global_functions));
    let mut groups: Vec<(&str, Vec<Use<'_>>)> = Vec::new();
    let mut known = HashMap::new();
    for (node, functions) in globals.chain(of_nodes) {
        for (index, function) in functions.iter().enumerate() {
            let Handler::Named(handler) = &function.handler else {
                continue;
            };
            let group = *known.entry(handler.as_str()).or_insert_with(|| {
                groups.push((handler, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(Use {
                node,
                index,
                function,
            });
        }
    }
    groups
}

/// A method for actions.
pub(crate) struct ActionMethod<'c> {
    /// The name in the document.
    pub(crate) handler: &'c str,
    /// The node, `pre_actions` or `post_actions`, and the index.
    pub(crate) first: (&'c str, &'static str, usize),
    /// The nodes.
    pub(crate) nodes: Vec<&'c str>,
}

/// The methods of actions, in the order of the document.
pub(crate) fn of_actions(conversation: &Conversation) -> Vec<ActionMethod<'_>> {
    let mut methods: Vec<ActionMethod<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (
        node,
        Node {
            pre_actions,
            post_actions,
            ..
        },
    ) in &conversation.nodes
    {
        for (list, actions) in [("pre_actions", pre_actions), ("post_actions", post_actions)] {
            for (index, action) in actions.iter().enumerate() {
                let Some(handler) = handler(action) else {
                    continue;
                };
                let method = *known.entry(handler).or_insert_with(|| {
                    methods.push(ActionMethod {
                        handler,
                        first: (node, list, index),
                        nodes: Vec::new(),
                    });
                    methods.len() - 1
                });
                let nodes = &mut methods[method].nodes;
                if nodes.last() != Some(&node.as_str()) {
                    nodes.push(node);
                }
            }
        }
    }
    methods
}

/// The name of the code of an action, if it has code.
fn handler(action: &Action) -> Option<&str> {
    match (action.kind.as_str(), &action.handler) {
        (Action::TTS_SAY | Action::END_CONVERSATION, _) | (Action::FUNCTION, None) => None,
        (_, Some(handler)) => Some(handler),
        (kind, None) => Some(kind),
    }
}

/// The name of the method of an action: `_action` is added if a function has the name.
pub(crate) fn action_name(handler: &str, functions: &[Method<'_>]) -> Option<String> {
    let name = names::snake(handler)?;
    let mut functions = functions.iter();
    let is_taken = functions.any(|it| names::snake(&it.name).as_ref() == Some(&name));
    Some(if is_taken {
        format!("{}_action", name.trim_end_matches('_'))
    } else {
        name
    })
}
