//! The syntax tree of `flow!`, with all its tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, Pat, PatType, Path, ReturnType, Token, Type, Visibility};

use crate::errors::Errors;
use crate::node::model::Param;
use crate::paths::camel_case;

/// A whole flow: `/// docs  pub WriteEssay(Essay) { .. }`.
pub(crate) struct FlowAst {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) state: Type,
    pub(crate) statements: Vec<Statement>,
    pub(crate) mistakes: Mistakes,
}

/// The mistakes of one flow.
#[derive(Default)]
pub(crate) struct Mistakes {
    pub(crate) errors: Errors,
    /// Part of the graph is missing because of a mistake. Other rules may then report its consequences, so they are not checked.
    pub(crate) lost: bool,
    /// The identifiers in the missing parts. A node that is named there is not reported as unknown.
    pub(crate) lost_words: Vec<String>,
}

impl Mistakes {
    /// Reports a mistake that makes edges missing.
    pub(crate) fn lose(&mut self, error: syn::Error) {
        self.errors.push(error);
        self.lost = true;
    }

    /// Records the identifiers of a statement that is missing, in whole or in part.
    pub(crate) fn lose_words(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => self.lost_words.push(word.unraw().to_string()),
                TokenTree::Group(group) => self.lose_words(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// One statement.
pub(crate) enum Statement {
    Chain(Chain),
    Declare(Declare),
    With(With),
    Defer(NodeRef),
    Catch(Catch),
    Interrupt(Interrupt),
}

/// `a -> b & c -> match { .. }`.
pub(crate) struct Chain {
    pub(crate) first: Group,
    pub(crate) steps: Vec<Step>,
}

/// The target of an arrow.
pub(crate) enum Step {
    Group(Group),
    Match {
        keyword: Token![match],
        arms: Vec<Arm>,
    },
}

/// `Revise | Retry => write & log`.
pub(crate) struct Arm {
    pub(crate) routes: Vec<RouteName>,
    pub(crate) target: Group,
}

/// The name of a route: a variant, `true` or `false`.
pub(crate) struct RouteName(pub(crate) Ident);

/// Nodes with their operators, without parentheses.
pub(crate) enum Group {
    Node(NodeRef),
    Each(Box<Group>),
    And(Vec<Group>),
    Or(Vec<Group>),
}

/// The mention of a node: a path, an alias, `START` or `END`.
#[derive(Clone)]
pub(crate) struct NodeRef(pub(crate) Path);

/// `node name = ..;` and `node name: ..;`.
pub(crate) struct Declare {
    pub(crate) name: Ident,
    pub(crate) what: Declared,
}

pub(crate) enum Declared {
    /// `= path`: the same node under another name.
    Alias(Path),
    /// `: Type = value`: a node value; without a value it must be supplied.
    Value(Box<NodeValue>),
    /// `: Flow { in: .., out: .. }`.
    Subflow(Box<Subflow>),
    /// A declaration that was reported. Its name is still known.
    Broken,
}

/// A node value: its type and its default.
pub(crate) struct NodeValue {
    pub(crate) ty: Type,
    pub(crate) default: Option<Expr>,
}

/// A flow as a node.
pub(crate) struct Subflow {
    pub(crate) ty: Type,
    /// The parameters of `in`.
    pub(crate) params: Vec<Param>,
    /// The body of `in`.
    pub(crate) input: TokenStream,
    /// The parameter of `out`: the final state of the sub-flow.
    pub(crate) end: PatType,
    /// The body of `out`.
    pub(crate) output: TokenStream,
    /// `keep: thread`.
    pub(crate) keep: bool,
    /// The parameter and the body of `values`, which sets node values of the sub-flow.
    pub(crate) values: Option<(Pat, TokenStream)>,
}

/// `with fetch { retry: 3 }`.
pub(crate) struct With {
    pub(crate) node: NodeRef,
    pub(crate) options: Vec<(Ident, Expr)>,
}

/// `catch fetch -> recover`.
pub(crate) struct Catch {
    pub(crate) from: NodeRef,
    pub(crate) to: NodeRef,
}

/// `interrupt after draft if |draft: &str| draft.len() > 400`.
pub(crate) struct Interrupt {
    pub(crate) after: bool,
    pub(crate) node: NodeRef,
    pub(crate) guard: Option<Guard>,
}

/// The condition of an interrupt.
pub(crate) struct Guard {
    /// The parameters of the closure.
    pub(crate) params: Vec<Param>,
    /// The return type of the closure.
    pub(crate) returns: ReturnType,
    pub(crate) body: Expr,
}

impl NodeRef {
    pub(crate) fn is_start(&self) -> bool {
        self.0.is_ident("START")
    }

    pub(crate) fn is_end(&self) -> bool {
        self.0.is_ident("END")
    }

    /// The text of the path. All mentions of one node have the same text.
    pub(crate) fn key(&self) -> String {
        let mut key = String::new();
        if self.0.leading_colon.is_some() {
            key.push_str("::");
        }
        for pair in self.0.segments.pairs() {
            key.push_str(&pair.value().ident.to_string());
            if pair.punct().is_some() {
                key.push_str("::");
            }
        }
        key
    }

    /// The name of the node: the last segment.
    pub(crate) fn name(&self) -> String {
        match self.0.segments.last() {
            Some(segment) => segment.ident.unraw().to_string(),
            None => String::new(),
        }
    }
}

impl ToTokens for NodeRef {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

impl RouteName {
    pub(crate) fn name(&self) -> String {
        self.0.unraw().to_string()
    }
}

impl Group {
    /// The nodes in the order of the text.
    pub(crate) fn nodes(&self) -> Vec<&NodeRef> {
        let mut nodes = Vec::new();
        self.add_nodes(&mut nodes);
        nodes
    }

    fn add_nodes<'a>(&'a self, nodes: &mut Vec<&'a NodeRef>) {
        match self {
            Group::Node(node) => nodes.push(node),
            Group::Each(group) => group.add_nodes(nodes),
            Group::And(groups) | Group::Or(groups) => {
                groups.iter().for_each(|group| group.add_nodes(nodes));
            }
        }
    }
}

/// The tokens to underline: from the first node to the last.
impl ToTokens for Group {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for node in &self.nodes() {
            node.to_tokens(tokens);
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (groups, operator) = match self {
            Group::Node(node) => return f.write_str(&node.key()),
            Group::Each(group) => return write!(f, "each {group}"),
            Group::And(groups) => (groups, " & "),
            Group::Or(groups) => (groups, " | "),
        };
        for (i, group) in groups.iter().enumerate() {
            if i > 0 {
                f.write_str(operator)?;
            }
            match group {
                Group::And(_) | Group::Or(_) => write!(f, "({group})")?,
                group => write!(f, "{group}")?,
            }
        }
        Ok(())
    }
}

/// The name of the route to a target: `WriteEssay` leads to `write_essay`.
pub(crate) fn route_named_like(target: &str) -> String {
    if target == "END" {
        "End".into()
    } else {
        camel_case(target)
    }
}
