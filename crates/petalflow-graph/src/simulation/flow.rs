//! Random graphs whose nodes read and write.

use std::fmt;

use proptest::prelude::*;

use crate::graph::{Edge, Graph, Node, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::testing::plain;
use crate::{KeyFacts, KeySet, NodeFacts};

pub(super) struct Flow {
    pub(super) graph: Graph,
    pub(super) keys: Vec<KeyFacts<'static>>,
    pub(super) nodes: Vec<NodeFacts<'static>>,
    pub(super) takes: Vec<bool>,
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::mermaid(&self.graph))?;
        for (node, facts) in self.graph.nodes.iter().zip(&self.nodes) {
            let keys = |set: KeySet| set.iter().collect::<Vec<_>>();
            let (reads, writes) = (keys(facts.reads), keys(facts.must_write));
            writeln!(
                f,
                "{} reads {reads:?} writes {writes:?}{}{}{}",
                node.name,
                if node.deferred { " deferred" } else { "" },
                if node.many { " many" } else { "" },
                if node.merge { " merge" } else { "" }
            )?;
        }
        self.keys.iter().try_for_each(|key| writeln!(f, "{key:?}"))
    }
}

pub(super) fn flow() -> impl Strategy<Value = Flow> {
    proptest::collection::vec(any::<u8>(), 100).prop_map(|tape| {
        let mut tape = Tape(tape.iter());
        let graph = random_graph(&mut tape);
        let (keys, nodes) = random_facts(&mut tape, &graph);
        let takes = nodes.iter().map(|_| tape.one_in(2)).collect();
        Flow {
            graph,
            keys,
            nodes,
            takes,
        }
    })
}

/// A source of choices that proptest can shrink.
pub(super) struct Tape<'a>(pub(super) std::slice::Iter<'a, u8>);

impl Tape<'_> {
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        u32::from(*self.0.next().unwrap_or(&0)) % limit
    }

    pub(super) fn one_in(&mut self, odds: u32) -> bool {
        self.below(odds) == odds - 1
    }

    pub(super) fn keys(&mut self) -> KeySet {
        (0..KEYS)
            .filter(|_| self.one_in(3))
            .fold(KeySet::NONE, KeySet::with)
    }
}

pub(super) const KEYS: usize = 3;
pub(super) const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

pub(super) fn random_graph(tape: &mut Tape<'_>) -> Graph {
    let count = 2 + tape.below(5);
    let mut edges = vec![Edge {
        from: Source::Start,
        via: Via::Plain,
        to: Target::Node(NodeIdx::new(0)),
    }];
    let mut nodes = Vec::new();
    for place in 0..count {
        let mut node = Node::named(NAMES[place as usize]);
        node.deferred = tape.one_in(8);
        let from = Source::Node(NodeIdx::new(place));
        let target = |tape: &mut Tape<'_>| {
            if tape.one_in(6) {
                Target::End
            } else {
                Target::Node(NodeIdx::new((place + 1 + tape.below(count)) % count))
            }
        };
        match tape.below(4) {
            0 | 1 => {
                for _ in 0..=tape.below(2) {
                    let via = if tape.one_in(4) {
                        Via::Each
                    } else {
                        Via::Plain
                    };
                    edges.push(Edge {
                        from,
                        via,
                        to: target(tape),
                    });
                }
            }
            2 => {
                node.many = tape.one_in(4);
                for name in ["X", "Y", "Z"].iter().take(2 + tape.below(2) as usize) {
                    for _ in 0..=u32::from(tape.one_in(5)) {
                        let via = if tape.one_in(5) {
                            Via::RouteEach((*name).into())
                        } else {
                            Via::Route((*name).into())
                        };
                        edges.push(Edge {
                            from,
                            via,
                            to: target(tape),
                        });
                    }
                }
            }
            _ => {}
        }
        if tape.one_in(6) {
            edges.push(Edge {
                from,
                via: Via::Catch,
                to: target(tape),
            });
        }
        if tape.one_in(4) {
            edges.push(Edge {
                from: Source::Start,
                via: Via::Plain,
                to: Target::Node(NodeIdx::new(place)),
            });
        }
        nodes.push(node);
    }
    let joins = tape.below(3);
    for join in 0..joins {
        let side = tape.below(count);
        let other = (side + 1 + tape.below(count - 1)) % count;
        for from in [side, other] {
            edges.push(plain(from, Target::Join(JoinIdx::new(join))));
        }
        let to = if tape.one_in(6) {
            Target::End
        } else {
            Target::Node(NodeIdx::new(tape.below(count)))
        };
        if let Some(to) = to.node() {
            nodes[to.index()].merge |= tape.one_in(2);
        }
        edges.push(Edge {
            from: Source::Join(JoinIdx::new(join)),
            via: Via::Plain,
            to,
        });
    }
    Graph {
        nodes: nodes.into(),
        edges: edges.into(),
        joins,
    }
}

pub(super) fn random_facts(
    tape: &mut Tape<'_>,
    graph: &Graph,
) -> (Vec<KeyFacts<'static>>, Vec<NodeFacts<'static>>) {
    let mut key = |name| KeyFacts {
        assigned: tape.one_in(4),
        ephemeral: tape.one_in(4),
        output: tape.one_in(2),
        ..KeyFacts::new(name)
    };
    let keys = vec![key("x"), key("y"), key("z")];
    let nodes = (0..graph.nodes.len()).map(|place| {
        let must_write = tape.keys();
        let has_route = graph.edges.iter().any(|edge| {
            edge.from == Source::Node(NodeIdx::from_usize(place)) && edge.via.route().is_some()
        });
        NodeFacts {
            reads: tape.keys(),
            must_write,
            may_write: must_write,
            has_route,
            many: graph.nodes[place].many,
            ..NodeFacts::new(NAMES[place])
        }
    });
    let nodes = nodes.collect();
    (keys, nodes)
}
