//! All analyses of a graph, as the checks of the nodes' types need them.

use super::concurrency::PairTable;
use super::delivered_several;
use super::exploration::{Exploration, explore};
use super::frontiers::Frontiers;
use super::join_deadlock::Stuck;
use super::nontermination::endless_by_choice;
use super::paths::Paths;
use super::superstep::Routes;
use crate::edges::batches;
use crate::graph::Graph;
use crate::idx::NodeIdx;
use crate::tables::{AnyRef, EndlessRow, Tables};

/// The analysis of a graph without the types of its nodes. The macro writes it as constants. The run-time builder uses it
/// directly.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, KeyFacts, KeySet, Node, NodeFacts, NodeIdx, Source, Analysis, Target, Via, verdicts_of};
/// let rank = NodeIdx::new(0);
/// let graph = Graph {
///     nodes: vec![Node::named("rank")].into(),
///     edges: vec![Edge { from: Source::Start, via: Via::Plain, to: Target::Node(rank) }].into(),
///     joins: 0,
/// };
/// let analysis = Analysis::of(&graph);
/// let nodes = [NodeFacts { reads: KeySet::of(0), ..NodeFacts::new("rank") }];
/// let keys = [KeyFacts::new("score")];
/// let verdicts = verdicts_of(&analysis.tables(), &keys, &nodes);
/// assert!(verdicts[0].diagnostic(rank, &keys, &nodes).unwrap().to_string().starts_with("PF017: node `rank` reads `score`"));
/// ```
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The possible runs if the nodes pick their routes as declared.
    pub declared: Exploration,
    /// The pairs of [`declared`](Self::declared).
    pub together: PairTable,
    /// The edges.
    pub paths: Paths,
    /// The difference if a node picks several routes. `None` if no node has a route.
    pub any: Option<Any>,
    /// The difference if one of these nodes takes items. It then runs once per delivery, and it can receive several deliveries in
    /// one superstep. `None` if there is no such node.
    pub delivered: Option<(Vec<NodeIdx>, Any)>,
    /// The cycles that never end if the nodes that choose in them pick exactly one route.
    pub endless: Vec<EndlessRow>,
}

/// The possible runs if nodes pick more of their routes than declared.
#[derive(Clone, Debug)]
pub struct Any {
    /// The nodes that can run together.
    pub together: PairTable,
    /// The joins that can wait forever, except those that also can if the nodes pick as declared.
    pub stuck: Vec<Stuck>,
    /// For each of these joins the node at which it is reported.
    pub stuck_at: Vec<NodeIdx>,
}

impl Analysis {
    /// The analysis for a macro, which does not know which nodes pick several routes.
    pub fn of(graph: &Graph) -> Self {
        let mut analysis = Self::declared(graph);
        if graph.edges.iter().any(|edge| edge.via.route().is_some()) {
            analysis.any = Some(Any::of(graph, Routes::Any, &analysis.declared));
        }
        analysis
    }

    /// The analysis for the run-time builder, which knows which nodes pick several routes and sets
    /// [`Node::many`](crate::Node::many).
    pub fn declared(graph: &Graph) -> Self {
        let declared = explore(graph, Routes::AsDeclared);
        let several =
            delivered_several(graph, &declared.pairs, &batches(graph), Routes::PerDelivery);
        let delivered = (!several.is_empty())
            .then(|| (several, Any::of(graph, Routes::PerDelivery, &declared)));
        Analysis {
            together: declared.pairs.table(),
            declared,
            paths: Paths::of(graph),
            any: None,
            delivered,
            endless: endless_by_choice(graph),
        }
    }

    /// The form that constant evaluation reads.
    pub fn tables(&self) -> Tables<'_> {
        Tables {
            exact: self.declared.exact,
            together: self.together.view(),
            frontiers: self.declared.frontiers.as_ref().map(Frontiers::view),
            paths: self.paths.view(),
            any: self.any.as_ref().map(Any::view),
            delivered: (self.delivered.as_ref()).map(|(nodes, any)| (&nodes[..], any.view())),
            endless: &self.endless,
        }
    }
}

impl Any {
    fn of(graph: &Graph, routes: Routes, declared: &Exploration) -> Self {
        let Exploration { pairs, stuck, .. } = explore(graph, routes);
        let is_known = |stuck: &Stuck| declared.stuck.iter().any(|known| known.join == stuck.join);
        let stuck: Vec<Stuck> = stuck.into_iter().filter(|stuck| !is_known(stuck)).collect();
        Any {
            together: pairs.table(),
            stuck_at: stuck
                .iter()
                .filter_map(|stuck| stuck.report_at(graph))
                .collect(),
            stuck,
        }
    }

    /// The form that constant evaluation reads.
    pub fn view(&self) -> AnyRef<'_> {
        AnyRef {
            together: self.together.view(),
            stuck_at: &self.stuck_at,
        }
    }
}
