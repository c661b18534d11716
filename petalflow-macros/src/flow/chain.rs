//! What a chain means: which edges `a -> b & c -> match { .. }` stands for.

use std::borrow::Cow;

use petalflow_graph::{JoinIdx, NodeIdx, Rule, SortedSet, Source, Target, Via, messages};
use proc_macro2::TokenStream;
use quote::ToTokens;

use super::ast::{self, Chain, Group, Mistakes, NodeRef, Step};
use super::model::{Arm, Edge, Model};

/// Adds a chain to the model.
pub(super) fn add(
    model: &mut Model,
    chain: &Chain,
    declared: &SortedSet<String>,
    mistakes: &mut Mistakes,
) {
    let mut cx = Cx {
        model,
        from: chain.first.to_string(),
        declared,
        mistakes,
    };
    cx.mention_all(&chain.first);
    if chain.steps.is_empty() {
        return;
    }
    let mut from = cx.sources(&chain.first, &chain.steps[0]);
    for (i, step) in chain.steps.iter().enumerate() {
        match step {
            Step::Group(group) => {
                cx.mention_all(group);
                cx.lead(&from, group);
                cx.from = group.to_string();
                if let Some(next) = chain.steps.get(i + 1) {
                    from = cx.sources(group, next);
                }
            }
            Step::Match { keyword, arms } => {
                arms.iter().for_each(|arm| cx.mention_all(&arm.target));
                cx.choose(&from, keyword.to_token_stream(), arms);
            }
        }
    }
}

struct Cx<'a> {
    model: &'a mut Model,
    /// Where the edges of this step come from, in words.
    from: String,
    declared: &'a SortedSet<String>,
    mistakes: &'a mut Mistakes,
}

/// Where edges begin, and what to underline.
struct Tail<'a> {
    source: Source,
    group: &'a Group,
}

impl Cx<'_> {
    /// Gives every node its place, in the order of the text.
    fn mention_all(&mut self, group: &Group) {
        for node in group.nodes() {
            if !node.is_start() && !node.is_end() {
                let place = self.model.mention(node, self.declared, self.mistakes);
                let node = &mut self.model.nodes[place.index()];
                node.chained = true;
                node.mentions += 1;
            }
        }
    }

    fn place(&mut self, node: &NodeRef) -> NodeIdx {
        self.model.mention(node, self.declared, self.mistakes)
    }

    /// The place of a node before an arrow.
    fn leave(&mut self, node: &NodeRef) -> NodeIdx {
        let place = self.place(node);
        let known = &mut self.model.nodes[place.index()];
        let first = known.mentions == 1 && !self.declared.contains(&node.key());
        if known.leaves.is_none() && !first {
            known.leaves = Some(node.to_token_stream());
        }
        place
    }

    fn lose(&mut self, rule: Option<Rule>, tokens: impl ToTokens, message: impl std::fmt::Display) {
        match rule {
            Some(rule) => self.mistakes.errors.rule(rule, tokens, message),
            None => self.mistakes.errors.at(tokens, message),
        }
        self.mistakes.lost = true;
    }

    /// A group before an arrow: a join for `&`, each by itself for `|`.
    fn sources<'g>(&mut self, group: &'g Group, next: &Step) -> Vec<Tail<'g>> {
        match group {
            Group::Node(node) if node.is_end() => {
                let to = match next {
                    Step::Group(group) => group.to_string(),
                    Step::Match { .. } => "match".to_owned(),
                };
                self.lose(Some(Rule::OutOfEnd), node, messages::out_of_end(&to));
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
            Group::And(groups) => self.join(group, groups).into_iter().collect(),
        }
    }

    fn join<'g>(&mut self, whole: &'g Group, groups: &[Group]) -> Option<Tail<'g>> {
        let mut sides = Vec::new();
        self.sides(groups, &mut sides)?;
        let join = JoinIdx::from_usize(self.model.joins.len());
        self.model.joins.push(whole.to_token_stream());
        for (place, at) in sides {
            self.model.edges.push(Edge {
                from: Source::Node(place),
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
                    self.lose(None, node, "START cannot be a side of a join: it always comes first, so the other sides suffice");
                    whole = None;
                }
                Group::Node(node) if node.is_end() => {
                    self.lose(Some(Rule::OutOfEnd), node, messages::end_in_join());
                    whole = None;
                }
                Group::Node(node) => {
                    let place = self.leave(node);
                    sides.push((place, node.to_token_stream()));
                }
                Group::Each(inner) => match &**inner {
                    Group::And(inner) => whole = whole.and(self.sides(inner, sides)),
                    inner => whole = whole.and(self.sides(std::slice::from_ref(inner), sides)),
                },
                Group::And(inner) => whole = whole.and(self.sides(inner, sides)),
                Group::Or(_) => {
                    let text = format_args!(
                        "a side of a join is one node: lead `{group}` into a node of its own, and join that"
                    );
                    self.lose(None, group, text);
                    whole = None;
                }
            }
        }
        whole
    }

    /// The edges to a group after an arrow: all of them for `&`, a route for each for `|`.
    fn lead(&mut self, from: &[Tail<'_>], to: &Group) {
        if let Group::Or(groups) = to {
            self.routes(from, groups, false);
        } else if let Group::Each(inner) = to
            && let Group::Or(groups) = &**inner
        {
            self.routes(from, groups, true);
        } else {
            for target in self.targets(to, false) {
                from.iter().for_each(|from| self.edge(from, &target));
            }
        }
    }

    fn edge(&mut self, from: &Tail<'_>, target: &Head) {
        if target.each && !matches!(from.source, Source::Node(_)) {
            let text = format_args!(
                "`each` needs a node that returns the items: `{}` is none",
                from.group
            );
            self.lose(None, &target.at, text);
            return;
        }
        if from.source == Source::Start && target.place == Target::End {
            self.lose(
                None,
                &target.at,
                "this edge leads from START to END, so nothing would run on it; lead it to a node",
            );
            return;
        }
        let via = if target.each { Via::Each } else { Via::Plain };
        self.push(from.source, via, target);
    }

    /// `a -> b | c`: the routes are named like the targets.
    fn routes(&mut self, from: &[Tail<'_>], to: &[Group], each: bool) {
        let mut named = Vec::new();
        for group in to {
            let (each, group) = match group {
                Group::Each(inner) => (true, &**inner),
                group => (each, group),
            };
            match group {
                Group::Node(node) => {
                    let name = route_named_like(&node.name());
                    let targets = self.targets(group, each);
                    named.push((name, node.to_token_stream(), targets));
                }
                group => {
                    let text = format_args!(
                        "a route is named like its target, and `{group}` has no name; spell the routes out: `match {{ Name => {group}, .. }}`"
                    );
                    self.lose(None, group, text);
                }
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
    fn choose(&mut self, from: &[Tail<'_>], keyword: TokenStream, arms: &[ast::Arm]) {
        if arms.is_empty() && !self.mistakes.lost {
            self.lose(
                None,
                keyword,
                "this `match` has no arms: name every route of the node, such as `Publish => END`",
            );
        }
        let mut named = Vec::new();
        for arm in arms {
            let targets = match &arm.target {
                Group::Or(groups) => {
                    let (one, all) = (
                        &arm.routes[0].name(),
                        groups
                            .iter()
                            .map(ToString::to_string)
                            .collect::<Vec<_>>()
                            .join(" & "),
                    );
                    self.lose(None, &arm.target, format_args!("route `{one}` leads to one place, or with `&` to several: `{one} => {all}`"));
                    continue;
                }
                target => self.targets(target, false),
            };
            named.push((arm, targets));
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

    fn chooser(&mut self, from: &Tail<'_>) -> Option<NodeIdx> {
        match from.source {
            Source::Node(node) => return Some(node),
            Source::Start => {
                let text = "START does not choose a route; begin with a node that does, or lead to several nodes with `&`";
                self.lose(Some(Rule::NoRoute), from.group, text);
            }
            Source::Join(_) => {
                let text = format_args!(
                    "the join `{}` does not choose a route; lead it into a node that does",
                    from.group
                );
                self.lose(Some(Rule::NoRoute), from.group, text);
            }
        }
        None
    }

    /// Reports a second `match` for a node if none of its routes is new: that is one mistake.
    fn has_arms(
        &mut self,
        node: NodeIdx,
        named: &[(&ast::Arm, Vec<Head>)],
        from: &Tail<'_>,
    ) -> bool {
        let arms = &self.model.arms;
        let first = |name: &str| {
            arms.iter()
                .find(|arm| arm.node == node && arm.route == name)
        };
        let mut routes = named.iter().flat_map(|(arm, _)| &arm.routes);
        let Some(written) = named
            .first()
            .and_then(|(arm, _)| first(&arm.routes[0].name()))
        else {
            return false;
        };
        if !routes.all(|route| first(&route.name()).is_some()) {
            return false;
        }
        let (at, name) = (written.at.clone(), &self.model.nodes[node.index()].name);
        let text = messages::matched_twice(name);
        self.lose(Some(Rule::DuplicateEdge), from.group, text);
        self.mistakes.errors.at(at, messages::first_written_here());
        true
    }

    fn route(&mut self, node: NodeIdx, route: &str, at: TokenStream, targets: &[Head]) {
        if let Some(first) = self
            .model
            .arms
            .iter()
            .find(|arm| arm.node == node && arm.route == route)
        {
            let text = messages::route_twice(&self.model.nodes[node.index()].name, route);
            let first = first.at.clone();
            self.lose(Some(Rule::DuplicateEdge), at, text);
            self.mistakes
                .errors
                .at(first, messages::first_written_here());
            return;
        }
        self.model.arms.push(Arm {
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

    fn push(&mut self, from: Source, via: Via, target: &Head) {
        self.model.edges.push(Edge {
            from,
            via,
            to: target.place,
            at: target.at.clone(),
            implied: false,
        });
    }

    /// The targets of one arrow or arm.
    fn targets(&mut self, group: &Group, each: bool) -> Vec<Head> {
        match group {
            Group::Node(node) if node.is_start() => {
                self.lose(
                    Some(Rule::IntoStart),
                    node,
                    messages::into_start(&self.from),
                );
                Vec::new()
            }
            Group::Node(node) if node.is_end() => {
                if each {
                    self.lose(
                        None,
                        node,
                        "`each` runs a node once per item, and END is none",
                    );
                    return Vec::new();
                }
                vec![Head {
                    place: Target::End,
                    each: false,
                    at: node.to_token_stream(),
                }]
            }
            Group::Node(node) => vec![Head {
                place: Target::Node(self.place(node)),
                each,
                at: node.to_token_stream(),
            }],
            Group::Each(inner) => self.targets(inner, true),
            Group::And(groups) => groups
                .iter()
                .flat_map(|group| self.targets(group, each))
                .collect(),
            Group::Or(_) => {
                let text = format_args!(
                    "a node either chooses a route or takes all of its edges: `{group}` is a choice beside other edges; let a node of its own choose"
                );
                self.lose(Some(Rule::PlainBesideRoute), group, text);
                Vec::new()
            }
        }
    }
}

/// Where an edge leads: a node, or END.
struct Head {
    place: Target,
    each: bool,
    at: TokenStream,
}

/// The variant for a target: `write_essay` is chosen by `WriteEssay`.
pub(super) fn route_named_like(name: &str) -> String {
    if name == "END" {
        return "End".into();
    }
    let words = name.split('_').filter(|word| !word.is_empty());
    let camel = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    words.map(camel).collect()
}
