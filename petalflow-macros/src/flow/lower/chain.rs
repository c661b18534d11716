//! Lowering of a chain to edges: `a -> b & c -> match { .. }`.

use std::borrow::Cow;

use petalflow_graph::{JoinIdx, NodeIdx, Source, Target, Via};
use proc_macro2::TokenStream;
use quote::ToTokens;

use super::Lowering;
use crate::flow::ast::{Arm, Chain, Group, NodeRef, Step, route_named_like};
use crate::flow::model::{self, Edge, Problem};

/// The source of edges, and the group to underline.
struct Tail<'a> {
    source: Source,
    group: &'a Group,
}

/// The target of an edge: a node, or END.
struct Head {
    target: Target,
    each: bool,
    at: TokenStream,
}

impl Lowering<'_> {
    /// Adds a chain to the model.
    pub(super) fn chain(&mut self, chain: &Chain) {
        self.mention_all(&chain.first);
        if chain.steps.is_empty() {
            return;
        }
        let mut before = &chain.first;
        let mut from = self.sources(&chain.first, &chain.steps[0]);
        for (i, step) in chain.steps.iter().enumerate() {
            match step {
                Step::Group(group) => {
                    self.mention_all(group);
                    self.lead(&from, before, group);
                    before = group;
                    if let Some(next) = chain.steps.get(i + 1) {
                        from = self.sources(group, next);
                    }
                }
                Step::Match { keyword, arms } => {
                    for arm in arms {
                        self.mention_all(&arm.target);
                    }
                    self.choose(&from, before, keyword.to_token_stream(), arms);
                }
            }
        }
    }

    /// Adds the nodes of a group to the model, in the order of the text.
    fn mention_all(&mut self, group: &Group) {
        for node in &group.nodes() {
            if !node.is_start() && !node.is_end() {
                let index = self.mention(node);
                let node = &mut self.model.nodes[index.index()];
                node.chained = true;
                node.mentions += 1;
            }
        }
    }

    /// The index of a node before an arrow.
    fn leave(&mut self, node: &NodeRef) -> NodeIdx {
        let index = self.mention(node);
        let known = &mut self.model.nodes[index.index()];
        let first = known.mentions == 1 && !self.declared.contains(&node.key());
        if known.leaves.is_none() && !first {
            known.leaves = Some(node.to_token_stream());
        }
        index
    }

    /// The sources of a group before an arrow: a join for `&`, each node by itself for `|`.
    fn sources<'g>(&mut self, group: &'g Group, next: &Step) -> Vec<Tail<'g>> {
        match group {
            Group::Node(node) if node.is_end() => {
                let to = match next {
                    Step::Group(group) => group.to_string(),
                    Step::Match { .. } => "match".to_owned(),
                };
                self.lose(node, Problem::OutOfEnd { to });
                Vec::new()
            }
            Group::Node(node) if node.is_start() => vec![Tail {
                source: Source::Start,
                group,
            }],
            Group::Node(node) => vec![Tail {
                source: Source::Node(self.leave(node)),
                group,
            }],
            Group::Each(inner) => self.sources(inner, next),
            Group::Or(groups) => groups
                .iter()
                .flat_map(|group| self.sources(group, next))
                .collect(),
            Group::And(groups) => match self.join(group, groups) {
                Some(join) => vec![join],
                None => Vec::new(),
            },
        }
    }

    fn join<'g>(&mut self, whole: &'g Group, groups: &[Group]) -> Option<Tail<'g>> {
        let mut sides = Vec::new();
        self.sides(groups, &mut sides)?;
        let join = JoinIdx::from_usize(self.model.joins.len());
        self.model.joins.push(whole.to_token_stream());
        for (node, at) in sides {
            self.model.edges.push(Edge {
                from: Source::Node(node),
                via: Via::Plain,
                to: Target::Join(join),
                at,
                implied: false,
            });
        }
        Some(Tail {
            source: Source::Join(join),
            group: whole,
        })
    }

    fn sides(&mut self, groups: &[Group], sides: &mut Vec<(NodeIdx, TokenStream)>) -> Option<()> {
        let mut whole = Some(());
        for group in groups {
            match group {
                Group::Node(node) if node.is_start() => {
                    self.lose(node, Problem::StartInJoin);
                    whole = None;
                }
                Group::Node(node) if node.is_end() => {
                    self.lose(node, Problem::EndInJoin);
                    whole = None;
                }
                Group::Node(node) => {
                    let index = self.leave(node);
                    sides.push((index, node.to_token_stream()));
                }
                Group::Each(inner) => match &**inner {
                    Group::And(inner) => whole = whole.and(self.sides(inner, sides)),
                    inner => whole = whole.and(self.sides(std::slice::from_ref(inner), sides)),
                },
                Group::And(inner) => whole = whole.and(self.sides(inner, sides)),
                Group::Or(_) => {
                    let problem = Problem::ChoiceInJoin {
                        group: group.to_string(),
                    };
                    self.lose(group, problem);
                    whole = None;
                }
            }
        }
        whole
    }

    /// Adds the edges to a group after an arrow: unconditional edges for `&`, routes for `|`.
    fn lead(&mut self, from: &[Tail<'_>], before: &Group, to: &Group) {
        if let Group::Or(groups) = to {
            self.routes(from, before, groups, false);
        } else if let Group::Each(inner) = to
            && let Group::Or(groups) = &**inner
        {
            self.routes(from, before, groups, true);
        } else {
            for target in &self.targets(before, to, false) {
                for from in from {
                    self.edge(from, target);
                }
            }
        }
    }

    fn edge(&mut self, from: &Tail<'_>, head: &Head) {
        if head.each && !matches!(from.source, Source::Node(_)) {
            let problem = Problem::EachFromNoNode {
                from: from.group.to_string(),
            };
            self.lose(&head.at, problem);
            return;
        }
        if from.source == Source::Start && head.target == Target::End {
            self.lose(&head.at, Problem::StartToEnd);
            return;
        }
        let via = if head.each { Via::Each } else { Via::Plain };
        self.push(from.source, via, head);
    }

    /// `a -> b | c`: the routes have the names of the targets.
    fn routes(&mut self, from: &[Tail<'_>], before: &Group, to: &[Group], each: bool) {
        let mut named = Vec::new();
        for group in to {
            let (each, group) = match group {
                Group::Each(inner) => (true, &**inner),
                group => (each, group),
            };
            if let Group::Node(node) = group {
                let name = route_named_like(&node.name());
                let targets = self.targets(before, group, each);
                named.push((name, node.to_token_stream(), targets));
            } else {
                let problem = Problem::UnnamedRoute {
                    group: group.to_string(),
                };
                self.lose(group, problem);
            }
        }
        for from in from {
            let Some(node) = self.chooser(from) else {
                continue;
            };
            for (route, at, targets) in &named {
                self.route(node, route, at.clone(), targets);
            }
        }
    }

    /// `a -> match { .. }`.
    fn choose(&mut self, from: &[Tail<'_>], before: &Group, keyword: TokenStream, arms: &[Arm]) {
        if arms.is_empty() && !self.mistakes.lost {
            self.lose(&keyword, Problem::MatchWithoutArms);
        }
        let mut named = Vec::new();
        for arm in arms {
            if let Group::Or(groups) = &arm.target {
                let targets = groups.iter().map(Group::to_string).collect();
                let route = arm.routes[0].name();
                let problem = Problem::ChoiceInArm { route, targets };
                self.lose(&arm.target, problem);
                continue;
            }
            named.push((arm, self.targets(before, &arm.target, false)));
        }
        for from in from {
            let Some(node) = self.chooser(from) else {
                continue;
            };
            if named.len() > 1 && self.has_arms(node, &named, from) {
                continue;
            }
            for (arm, targets) in &named {
                for route in &arm.routes {
                    self.route(node, &route.name(), route.0.to_token_stream(), targets);
                }
            }
        }
    }

    /// The node that chooses a route. START and joins do not choose.
    fn chooser(&mut self, from: &Tail<'_>) -> Option<NodeIdx> {
        match from.source {
            Source::Node(node) => return Some(node),
            Source::Start => self.lose(from.group, Problem::StartChooses),
            Source::Join(_) => {
                let problem = Problem::JoinChooses {
                    join: from.group.to_string(),
                };
                self.lose(from.group, problem);
            }
        }
        None
    }

    /// Whether this is a second `match` for a node without a new route. This is one mistake, not one per route.
    fn has_arms(&mut self, node: NodeIdx, named: &[(&Arm, Vec<Head>)], from: &Tail<'_>) -> bool {
        let mut first = None;
        for (arm, _) in named {
            for route in &arm.routes {
                let known = self.model.arm(node, &route.name());
                let Some(known) = known else {
                    return false;
                };
                if first.is_none() {
                    first = Some(known.at.clone());
                }
            }
        }
        let Some(first) = first else {
            return false;
        };
        let node = self.model.nodes[node.index()].name.clone();
        self.lose(from.group, Problem::MatchedTwice { node, first });
        true
    }

    fn route(&mut self, node: NodeIdx, route: &str, at: TokenStream, targets: &[Head]) {
        if let Some(first) = self.model.arm(node, route) {
            let problem = Problem::RouteTwice {
                node: self.model.nodes[node.index()].name.clone(),
                route: route.to_owned(),
                first: first.at.clone(),
            };
            self.lose(&at, problem);
            return;
        }
        self.model.arms.push(model::Arm {
            node,
            route: route.to_owned(),
            at,
            edge: self.model.edges.len(),
        });
        for target in targets {
            let route = Cow::Owned(route.to_owned());
            let via = if target.each {
                Via::RouteEach(route)
            } else {
                Via::Route(route)
            };
            self.push(Source::Node(node), via, target);
        }
    }

    fn push(&mut self, from: Source, via: Via, head: &Head) {
        self.model.edges.push(Edge {
            from,
            via,
            to: head.target,
            at: head.at.clone(),
            implied: false,
        });
    }

    /// The targets of one arrow or arm.
    fn targets(&mut self, before: &Group, group: &Group, each: bool) -> Vec<Head> {
        match group {
            Group::Node(node) if node.is_start() => {
                let problem = Problem::IntoStart {
                    from: before.to_string(),
                };
                self.lose(node, problem);
                Vec::new()
            }
            Group::Node(node) if node.is_end() && each => {
                self.lose(node, Problem::EachEnd);
                Vec::new()
            }
            Group::Node(node) => {
                let target = if node.is_end() {
                    Target::End
                } else {
                    Target::Node(self.mention(node))
                };
                vec![Head {
                    target,
                    each,
                    at: node.to_token_stream(),
                }]
            }
            Group::Each(inner) => self.targets(before, inner, true),
            Group::And(groups) => {
                let heads = groups
                    .iter()
                    .flat_map(|group| self.targets(before, group, each));
                heads.collect()
            }
            Group::Or(_) => {
                let problem = Problem::ChoiceBesideEdges {
                    group: group.to_string(),
                };
                self.lose(group, problem);
                Vec::new()
            }
        }
    }
}
