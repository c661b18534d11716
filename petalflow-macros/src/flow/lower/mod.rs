//! Lowering: from statements to the model.
//!
//! Lowering itself reports only unknown and repeated names. It records the parts of the text without a meaning as [`Misuse`], which
//! [`check`](super::check) reports.

mod chain;

use std::collections::{BTreeMap, BTreeSet};

use petalflow_graph::{NodeIdx, Rule, Source, Target, Via, messages, similar};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt as _;

use super::ast::{Catch, Declare, Declared, Interrupt, Mistakes, NodeRef, Statement, With};
use super::model::{Edge, InterruptPoint, Kind, Misuse, Model, Node, Problem};

/// The model of the statements. A statement with a mistake is lowered as far as possible.
pub(super) fn lower(statements: Vec<Statement>, mistakes: &mut Mistakes) -> Model {
    let mut lowering = Lowering {
        model: Model::default(),
        declared: declared_names(&statements),
        indices: BTreeMap::new(),
        mistakes,
    };
    // The nodes have the order of the text. Statements that only refer to nodes are lowered afterwards.
    let mut withs = Vec::new();
    let mut defers = Vec::new();
    let mut catches = Vec::new();
    let mut interrupts = Vec::new();
    for statement in statements {
        match statement {
            Statement::Declare(declare) => lowering.declare(declare),
            Statement::Chain(chain) => lowering.chain(&chain),
            Statement::With(with) => withs.push(with),
            Statement::Defer(node) => defers.push(node),
            Statement::Interrupt(interrupt) => interrupts.push(interrupt),
            Statement::Catch(Catch { to, .. }) if to.is_start() || to.is_end() => {
                let problem = Problem::CaughtByNoNode { to: to.key() };
                lowering.misuse(&to, problem);
            }
            Statement::Catch(catch) => {
                let to = lowering.mention(&catch.to);
                catches.push((catch.from, to, catch.to));
            }
        }
    }
    for (from, to, at) in catches {
        lowering.catch(&from, to, at.into_token_stream());
    }
    for node in &defers {
        lowering.defer(node);
    }
    for with in withs {
        lowering.with(with);
    }
    for interrupt in interrupts {
        lowering.interrupt(interrupt);
    }
    lowering.add_implied_edges();
    lowering.model
}

struct Lowering<'a> {
    model: Model,
    /// The names that `node` statements declare.
    declared: BTreeSet<String>,
    /// The nodes by the text of their paths.
    indices: BTreeMap<String, NodeIdx>,
    mistakes: &'a mut Mistakes,
}

impl Lowering<'_> {
    fn misuse(&mut self, at: &dyn ToTokens, problem: Problem) {
        let at = at.to_token_stream();
        self.model.misuses.push(Misuse { at, problem });
    }

    /// Records a misuse that makes edges missing.
    fn lose(&mut self, at: &dyn ToTokens, problem: Problem) {
        self.misuse(at, problem);
        self.mistakes.lost = true;
    }

    /// The index of a node that is mentioned.
    fn mention(&mut self, node: &NodeRef) -> NodeIdx {
        let key = node.key();
        if let Some(&index) = self.indices.get(&key) {
            return index;
        }
        // A declaration can follow the mention. It then sets the kind.
        let kind = if self.declared.contains(&key) {
            Kind::Broken
        } else {
            Kind::Function(node.0.clone())
        };
        self.add(key, node.name(), node.to_token_stream(), kind)
    }

    fn add(&mut self, key: String, mut name: String, at: TokenStream, kind: Kind) -> NodeIdx {
        if let Some(other) = self.model.nodes.iter().find(|node| node.name == name) {
            let other = other.at.to_string().replace(' ', "");
            let text = format_args!(
                "`{key}` and `{other}` would both be called `{name}` in the graph; write one path for one node, `{other}`, or give another node another name: `node other_{name} = {key};`"
            );
            self.mistakes.errors.rule(Rule::DuplicateNode, &at, text);
            // If both are one node, its edges are those of two nodes.
            self.mistakes.lost = true;
            // With a different name, the rules of the graph do not report it again.
            name = if name == key {
                format!("self::{key}")
            } else {
                key.clone()
            };
        }
        let index = NodeIdx::from_usize(self.model.nodes.len());
        self.model.nodes.push(Node {
            name,
            at,
            leaves: None,
            mentions: 0,
            kind,
            deferred: false,
            declared: false,
            chained: false,
            options: Vec::new(),
        });
        self.indices.insert(key, index);
        index
    }

    fn declare(&mut self, declare: Declare) {
        let Declare { name, what } = declare;
        let key = name.to_string();
        let text = name.unraw().to_string();
        let kind = match what {
            Declared::Alias(path) => {
                let other = NodeRef(path.clone());
                let itself = other.key() == key;
                if !itself && self.declared.contains(&other.key()) {
                    let problem = Problem::AliasOfDeclared { node: other.key() };
                    self.misuse(&other, problem);
                    Kind::Broken
                } else {
                    Kind::Function(path)
                }
            }
            Declared::Value(value) => Kind::Value(name.clone(), value),
            Declared::Subflow(subflow) => Kind::Subflow(subflow),
            Declared::Broken => Kind::Broken,
        };
        let Some(&index) = self.indices.get(&key) else {
            let index = self.add(key, text, name.to_token_stream(), kind);
            self.model.nodes[index.index()].declared = true;
            return;
        };
        let node = &mut self.model.nodes[index.index()];
        if node.declared {
            let errors = &mut self.mistakes.errors;
            errors.rule(Rule::DuplicateNode, &name, messages::declared_twice(&text));
            errors.at(&node.at, messages::first_here());
        } else {
            // Mentioned before its declaration.
            node.kind = kind;
            node.at = name.to_token_stream();
            node.declared = true;
        }
    }

    /// The node of a name that must be in the graph. `user` is the statement that names it.
    fn named(&mut self, user: &str, node: &NodeRef) -> Option<NodeIdx> {
        let key = node.key();
        if let Some(&index) = self.indices.get(&key) {
            return Some(index);
        }
        let mistakes = &mut *self.mistakes;
        if mistakes.lost_words.contains(&node.name()) {
            return None;
        }
        let names: Vec<_> = self.model.nodes.iter().map(|node| &*node.name).collect();
        let words = mistakes.lost_words.iter().map(|word| &**word);
        // The last segment of the path of a node, or a similar name.
        let same = self.model.nodes.iter().find(|node| node.name == key);
        let path = same.map(|node| node.at.to_string().replace(' ', ""));
        let similar = match &path {
            Some(path) => Some(&**path),
            None => similar(&key, names.iter().copied().chain(words)),
        };
        let text = messages::unknown_node(user, &key, similar, &names);
        mistakes.errors.rule(Rule::UnknownNode, node, text);
        None
    }

    fn catch(&mut self, from: &NodeRef, to: NodeIdx, at: TokenStream) {
        let Some(from) = self.named("`catch`", from) else {
            self.mistakes.lost = true;
            return;
        };
        self.model.edges.push(Edge {
            from: Source::Node(from),
            via: Via::Catch,
            to: Target::Node(to),
            at,
            implied: false,
        });
    }

    fn defer(&mut self, node: &NodeRef) {
        let Some(index) = self.named("`defer`", node) else {
            // Rules about reads and conflicts depend on which nodes are deferred.
            self.mistakes.lost = true;
            return;
        };
        let deferred = &mut self.model.nodes[index.index()].deferred;
        if std::mem::replace(deferred, true) {
            let problem = Problem::DeferredTwice { node: node.key() };
            self.misuse(node, problem);
        }
    }

    fn with(&mut self, with: With) {
        let Some(node) = self.named("`with`", &with.node) else {
            return;
        };
        for (name, value) in with.options {
            let option = name.unraw().to_string();
            let options = &mut self.model.nodes[node.index()].options;
            if options.iter().any(|(other, _)| other.unraw() == option) {
                self.misuse(&name, Problem::RepeatedOption { option });
            } else {
                options.push((name, value));
            }
        }
    }

    fn interrupt(&mut self, interrupt: Interrupt) {
        let Interrupt { after, node, guard } = interrupt;
        let Some(index) = self.named("`interrupt`", &node) else {
            return;
        };
        let point = InterruptPoint {
            node: index,
            after,
            guard,
        };
        let same = |other: &InterruptPoint| other.node == index && other.after == after;
        if self.model.interrupt_points.iter().any(same) {
            let problem = Problem::InterruptedTwice {
                side: point.side(),
                node: node.key(),
            };
            self.misuse(&node, problem);
        } else {
            self.model.interrupt_points.push(point);
        }
    }

    /// Adds the edges from START and to END that can be left out.
    fn add_implied_edges(&mut self) {
        let model = &mut self.model;
        let count = model.nodes.len();
        let (mut into, mut out) = (vec![false; count], vec![false; count]);
        for edge in &model.edges {
            if let Source::Node(node) = edge.from
                && edge.via != Via::Catch
            {
                out[node.index()] = true;
            }
            // An edge from a node to itself is not an edge into it.
            if let Target::Node(node) = edge.to
                && edge.from != Source::Node(node)
            {
                into[node.index()] = true;
            }
        }
        let mut sinks = Vec::new();
        let mut sources = Vec::new();
        for node in NodeIdx::all(count) {
            let into = into[node.index()];
            let out = out[node.index()];
            let chained = model.nodes[node.index()].chained;
            if !out && (chained || into) {
                sinks.push(node);
            }
            if chained && !into {
                sources.push(node);
            }
        }
        if let [source] = sources[..]
            && !model.starts()
        {
            imply(model, Source::Start, Target::Node(source), source);
        }
        for sink in sinks {
            imply(model, Source::Node(sink), Target::End, sink);
        }
    }
}

fn imply(model: &mut Model, from: Source, to: Target, node: NodeIdx) {
    let at = model.nodes[node.index()].at.clone();
    model.edges.push(Edge {
        from,
        via: Via::Plain,
        to,
        at,
        implied: true,
    });
}

fn declared_names(statements: &[Statement]) -> BTreeSet<String> {
    let names = statements.iter().filter_map(|statement| match statement {
        Statement::Declare(declare) => Some(declare.name.to_string()),
        _ => None,
    });
    names.collect()
}
