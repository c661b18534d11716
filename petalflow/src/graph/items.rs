//! Whether what edges deliver is what their targets take.

use std::any::TypeId;

use petalflow_graph::{Problem, Rule, Site, Source, Target, Via, words};

use super::START;
use super::node::Entry;
use crate::node::TypeName;
use crate::{NodeError, State};

/// What an edge delivers.
enum Delivered {
    Nothing,
    /// Something of an unknown type.
    Something,
    /// The route that should deliver it does not exist, which is reported elsewhere.
    Unknown,
    Item(TypeName),
    /// `each` along a route that carries none, or (with its type) a value that is no list.
    NoItems(Option<&'static str>),
}

impl Delivered {
    fn along<S: State>(via: &Via, from: &Entry<S>) -> Self {
        let traits = &from.traits;
        let place = |route: &str| traits.routes.iter().position(|name| *name == route);
        match via {
            Via::Plain => Delivered::Nothing,
            Via::Each => traits.items.map_or(Delivered::Something, Delivered::Item),
            Via::Catch => Delivered::Item((TypeId::of::<NodeError>(), "petalflow::NodeError")),
            Via::Route(route) | Via::RouteEach(route) => {
                let each = matches!(via, Via::RouteEach(_));
                let Some(place) = place(route) else {
                    return Delivered::Unknown;
                };
                let carries = traits.payloads.get(place).copied().unwrap_or(false);
                match (carries, (traits.carried)(place)) {
                    (false, _) if each => Delivered::NoItems(None),
                    (false, _) => Delivered::Nothing,
                    (true, None) => Delivered::Something,
                    (true, Some(carried)) if each => carried
                        .items
                        .map_or(Delivered::NoItems(Some(carried.whole.1)), Delivered::Item),
                    (true, Some(carried)) => Delivered::Item(carried.whole),
                }
            }
        }
    }
}

/// PF020: what edges deliver is what their targets take.
pub(super) fn items_match<S: State>(
    graph: &petalflow_graph::Graph,
    nodes: &[Entry<S>],
    problems: &mut Vec<Problem>,
) {
    for (number, edge) in graph.edges().iter().enumerate() {
        let Target::Node(to) = edge.to else { continue };
        let target = &nodes[to as usize];
        let (from, delivered) = match edge.from {
            Source::Start => (START, Delivered::Nothing),
            Source::Join(_) => ("a join", Delivered::Nothing),
            Source::Node(from) => {
                let from = &nodes[from as usize];
                (from.name.as_str(), Delivered::along(&edge.via, from))
            }
        };
        let (takes, item) = (target.traits.takes, target.traits.item);
        let text = match (delivered, &edge.via) {
            (Delivered::NoItems(whole), Via::Route(route) | Via::RouteEach(route)) => match whole {
                Some(carries) => words::carries_no_list(from, route, carries),
                None => words::carries_no_items(from, route),
            },
            (Delivered::Nothing | Delivered::NoItems(_), _) if takes => {
                words::needs_item(&target.name, from)
            }
            // Not everyone who deals with a failure asks what it was.
            (Delivered::Item(_), Via::Catch) if !takes => continue,
            (Delivered::Something | Delivered::Item(_), _) if !takes => {
                words::takes_no_item(&target.name, from)
            }
            (Delivered::Item((ty, name)), _) if ty != item.0 => {
                words::other_item(&target.name, item.1, from, name)
            }
            _ => continue,
        };
        problems.push(Problem::new(
            Rule::ItemMismatch,
            Site::Edge(number),
            text.as_str(),
        ));
    }
}
