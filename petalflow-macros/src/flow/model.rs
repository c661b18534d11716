//! What the statements mean: nodes by place, edges, joins.

use petalflow_graph::{
    Graph, NodeIdx, Rule, SortedMap, SortedSet, Source, Target, Via, When, messages, similar,
};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Expr, Path};

use super::ast::{
    Declare, Declared, Guard, Interrupt, Mistakes, NodeRef, NodeValue, Statement, Subflow, With,
};
use super::chain;
use crate::options;

/// A flow's graph, with the tokens to underline.
#[derive(Default)]
pub(crate) struct Model {
    /// By place: in the order in which they are first mentioned.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The sides of each join, as written.
    pub(crate) joins: Vec<TokenStream>,
    /// Each route of each node that has an arm, once.
    pub(crate) arms: Vec<Arm>,
    /// In the order of their statements, by which the engine knows them.
    pub(crate) gates: Vec<Gate>,
    places: SortedMap<String, NodeIdx>,
}

pub(crate) struct Node {
    pub(crate) name: String,
    /// Its first mention, or its declaration.
    pub(crate) at: TokenStream,
    /// The first mention before an arrow, where that is another one: what is wrong with the edges is said there.
    pub(crate) leaves: Option<TokenStream>,
    /// How often a chain has mentioned it so far.
    pub(crate) mentions: usize,
    pub(crate) kind: Kind,
    pub(crate) deferred: bool,
    /// A `node` statement has said what it is.
    declared: bool,
    /// Stands in a chain, so that START and END may be left out for it.
    pub(crate) chained: bool,
    pub(crate) options: Vec<(Ident, Expr)>,
}

/// What runs.
pub(crate) enum Kind {
    /// An annotated function.
    Function(Path),
    /// A value that the flow holds.
    Value(Ident, Box<NodeValue>),
    Subflow(Box<Subflow>),
    /// Something that was reported.
    Broken,
}

pub(crate) struct Edge {
    pub(crate) from: Source,
    pub(crate) via: Via,
    pub(crate) to: Target,
    /// Its target, or what stands for it.
    pub(crate) at: TokenStream,
    /// `START` or `END` was left out.
    pub(crate) implied: bool,
}

pub(crate) struct Arm {
    pub(crate) node: NodeIdx,
    pub(crate) route: String,
    pub(crate) at: TokenStream,
    /// Its first edge; one without any was reported.
    pub(crate) edge: usize,
}

impl Node {
    /// What `with` says under this name.
    pub(crate) fn option(&self, option: &str) -> Option<&Expr> {
        let said = self.options.iter().find(|(name, _)| name.unraw() == option);
        said.map(|(_, value)| value)
    }

    /// Its name in stored checkpoints, where `with` says one. What cannot be read is reported by the check.
    pub(crate) fn id(&self) -> Option<String> {
        options::node_id(self.option("id")?).ok()
    }
}

/// An `interrupt`.
pub(crate) struct Gate {
    pub(crate) node: NodeIdx,
    pub(crate) after: bool,
    pub(crate) guard: Option<Guard>,
}

impl Gate {
    /// The side of the node on which the run stops, in a word.
    pub(crate) fn side(&self) -> &'static str {
        if self.after { "after" } else { "before" }
    }
}

impl Model {
    /// What the statements say; mistakes are reported, and the rest is kept.
    pub(crate) fn build(statements: Vec<Statement>, mistakes: &mut Mistakes) -> Self {
        let mut model = Model::default();
        let declared = declared_names(&statements);
        let (mut withs, mut defers, mut catches) = (Vec::new(), Vec::new(), Vec::new());
        let mut interrupts = Vec::new();
        for statement in statements {
            match statement {
                Statement::Declare(declare) => model.declare(declare, &declared, mistakes),
                Statement::Chain(chain) => chain::add(&mut model, &chain, &declared, mistakes),
                Statement::With(with) => withs.push(with),
                Statement::Defer(node) => defers.push(node),
                Statement::Interrupt(interrupt) => interrupts.push(interrupt),
                Statement::Catch(catch) => {
                    if catch.to.is_start() || catch.to.is_end() {
                        let text = messages::caught_by_no_node(&catch.to.key());
                        mistakes.errors.rule(Rule::Catch, &catch.to, text);
                        continue;
                    }
                    let to = model.mention(&catch.to, &declared, mistakes);
                    catches.push((catch.from, to, catch.to));
                }
            }
        }
        for (from, to, at) in catches {
            let Some(from) = model.named("`catch`", &from, mistakes) else {
                mistakes.lost = true;
                continue;
            };
            let at = at.into_token_stream();
            model.edges.push(Edge {
                from: Source::Node(from),
                via: Via::Catch,
                to: Target::Node(to),
                at,
                implied: false,
            });
        }
        for node in defers {
            let Some(place) = model.named("`defer`", &node, mistakes) else {
                // When a node runs decides what it can read, and with what it can conflict.
                mistakes.lost = true;
                continue;
            };
            let deferred = &mut model.nodes[place.index()].deferred;
            if std::mem::replace(deferred, true) {
                mistakes.errors.rule(
                    Rule::Option,
                    &node,
                    format_args!("`{}` is deferred twice; remove one of them", node.key()),
                );
            }
        }
        withs
            .into_iter()
            .for_each(|with| model.with(with, mistakes));
        for interrupt in interrupts {
            model.interrupt(interrupt, mistakes);
        }
        model.complete();
        model
    }

    /// The graph without tokens.
    pub(crate) fn graph(&self) -> Graph {
        let node = |node: &Node| petalflow_graph::Node {
            deferred: node.deferred,
            subflow: matches!(node.kind, Kind::Subflow(_)),
            stored: node.id().map(Into::into),
            ..petalflow_graph::Node::named(node.name.clone())
        };
        let mut nodes: Vec<_> = self.nodes.iter().map(node).collect();
        for gate in &self.gates {
            let node = &mut nodes[gate.node.index()];
            let guarded = gate.guard.is_some();
            *(if gate.after {
                &mut node.after
            } else {
                &mut node.before
            }) = if guarded { When::Guarded } else { When::Always };
        }
        let edge = |edge: &Edge| petalflow_graph::Edge {
            from: edge.from,
            via: edge.via.clone(),
            to: edge.to,
        };
        Graph {
            nodes: nodes.into(),
            edges: self.edges.iter().map(edge).collect(),
            joins: u32::try_from(self.joins.len()).expect("a graph has fewer than 2^32 joins"),
        }
    }

    /// The place of a node that is mentioned.
    pub(crate) fn mention(
        &mut self,
        node: &NodeRef,
        declared: &SortedSet<String>,
        mistakes: &mut Mistakes,
    ) -> NodeIdx {
        let key = node.key();
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let name = node.name();
        let at = node.to_token_stream();
        // What is declared further down is filled in there.
        let kind = if declared.contains(&key) {
            Kind::Broken
        } else {
            Kind::Function(node.0.clone())
        };
        self.add(key, name, at, kind, mistakes)
    }

    fn add(
        &mut self,
        key: String,
        mut name: String,
        at: TokenStream,
        kind: Kind,
        mistakes: &mut Mistakes,
    ) -> NodeIdx {
        if let Some(other) = self.nodes.iter().find(|node| node.name == name) {
            let other = other.at.to_string().replace(' ', "");
            let text = format_args!(
                "`{key}` and `{other}` would both be called `{name}` in the graph; give one of them a name of its own: `node other_{name} = {key};`"
            );
            mistakes.errors.rule(Rule::DuplicateNode, &at, text);
            // Another name from here on, or the graph would say it again.
            name = if name == key {
                format!("self::{key}")
            } else {
                key.clone()
            };
        }
        let place = NodeIdx::from_usize(self.nodes.len());
        self.nodes.push(Node {
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
        self.places.insert(key, place);
        place
    }

    fn declare(&mut self, declare: Declare, declared: &SortedSet<String>, mistakes: &mut Mistakes) {
        let Declare { name, what } = declare;
        let (key, text) = (name.to_string(), name.unraw().to_string());
        let kind = match what {
            Declared::Alias(path) => {
                let other = NodeRef(path.clone());
                let itself = other.key() == key;
                if !itself && declared.contains(&other.key()) {
                    let text = format_args!(
                        "`{}` is declared in this flow: a second name is for a function, so write its path",
                        other.key()
                    );
                    mistakes.errors.at(&other, text);
                    Kind::Broken
                } else {
                    Kind::Function(path)
                }
            }
            Declared::Value(value) => Kind::Value(name.clone(), value),
            Declared::Subflow(subflow) => Kind::Subflow(subflow),
            Declared::Broken => Kind::Broken,
        };
        match self.places.get(&key) {
            // Mentioned further up: its place is there.
            Some(&place) if !self.nodes[place.index()].declared => {
                let node = &mut self.nodes[place.index()];
                node.kind = kind;
                node.at = name.to_token_stream();
                node.declared = true;
            }
            Some(&place) => {
                mistakes
                    .errors
                    .rule(Rule::DuplicateNode, &name, messages::declared_twice(&text));
                mistakes
                    .errors
                    .at(&self.nodes[place.index()].at, messages::first_here());
            }
            None => {
                let place = self.add(key, text, name.to_token_stream(), kind, mistakes);
                self.nodes[place.index()].declared = true;
            }
        }
    }

    /// A node that `user` names and that must be in the graph already.
    fn named(&self, user: &str, node: &NodeRef, mistakes: &mut Mistakes) -> Option<NodeIdx> {
        let key = node.key();
        if let Some(&place) = self.places.get(&key) {
            return Some(place);
        }
        if mistakes.lost_words.contains(&node.name()) {
            return None;
        }
        let names: Vec<&str> = self.nodes.iter().map(|node| &*node.name).collect();
        let lost = mistakes.lost_words.iter().map(|word| &**word);
        let similar = similar(&key, names.iter().copied().chain(lost));
        mistakes.errors.rule(
            Rule::UnknownNode,
            node,
            messages::unknown_node(user, &key, similar, &names),
        );
        None
    }

    fn with(&mut self, with: With, mistakes: &mut Mistakes) {
        let Some(place) = self.named("`with`", &with.node, mistakes) else {
            return;
        };
        for (name, value) in with.options {
            let written = name.unraw().to_string();
            let options = &mut self.nodes[place.index()].options;
            if options.iter().any(|(other, _)| other.unraw() == written) {
                mistakes
                    .errors
                    .rule(Rule::Option, &name, messages::repeated_option(&written));
            } else {
                options.push((name, value));
            }
        }
    }

    fn interrupt(&mut self, interrupt: Interrupt, mistakes: &mut Mistakes) {
        let Interrupt { after, node, guard } = interrupt;
        let Some(place) = self.named("`interrupt`", &node, mistakes) else {
            return;
        };
        let gate = Gate {
            node: place,
            after,
            guard,
        };
        let same = |other: &Gate| other.node == place && other.after == after;
        if self.gates.iter().any(same) {
            mistakes.errors.rule(
                Rule::Option,
                &node,
                messages::interrupted_twice(gate.side(), &node.key()),
            );
        } else {
            self.gates.push(gate);
        }
    }

    /// Adds the edges from START and to END that may be left out.
    fn complete(&mut self) {
        let count = self.nodes.len();
        let (mut into, mut out) = (vec![false; count], vec![false; count]);
        for edge in &self.edges {
            if let Source::Node(node) = edge.from
                && edge.via != Via::Catch
            {
                out[node.index()] = true;
            }
            // A node that leads to itself is not led to by another.
            if let Target::Node(node) = edge.to
                && edge.from != Source::Node(node)
            {
                into[node.index()] = true;
            }
        }
        let chained = |place: &NodeIdx| self.nodes[place.index()].chained;
        let sinks: Vec<NodeIdx> = NodeIdx::all(count)
            .filter(|&place| !out[place.index()])
            .filter(|place| chained(place) || into[place.index()])
            .collect();
        let sources: Vec<NodeIdx> = NodeIdx::all(count)
            .filter(chained)
            .filter(|&place| !into[place.index()])
            .collect();
        if let [source] = sources[..]
            && !self.starts()
        {
            self.imply(Source::Start, Target::Node(source), source);
        }
        sinks
            .into_iter()
            .for_each(|sink| self.imply(Source::Node(sink), Target::End, sink));
    }

    /// Whether an edge from START was written.
    pub(crate) fn starts(&self) -> bool {
        self.edges.iter().any(|edge| edge.from == Source::Start)
    }

    fn imply(&mut self, from: Source, to: Target, node: NodeIdx) {
        let at = self.nodes[node.index()].at.clone();
        self.edges.push(Edge {
            from,
            via: Via::Plain,
            to,
            at,
            implied: true,
        });
    }
}

fn declared_names(statements: &[Statement]) -> SortedSet<String> {
    let names = statements.iter().filter_map(|statement| match statement {
        Statement::Declare(declare) => Some(declare.name.to_string()),
        _ => None,
    });
    names.collect()
}
