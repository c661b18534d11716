//! What petalflow knows about graphs: the model, the rules with their wording, and the analyses.
//!
//! Used by the macros (on what `flow!` says), by constant evaluation (on what the nodes' types say) and by the run-time
//! builder. An implementation detail of [petalflow](https://docs.rs/petalflow): depend on that instead.
//!
//! Nearly every function is `#[inline]`, which here means: compiled where it is called. A program that builds no graph at
//! run time then never compiles the analyses for itself, which would be a quarter of its build.
#![forbid(unsafe_code)]

mod assign;
mod conflicts;
mod edges;
mod explore;
mod facts;
mod frontiers;
mod graph;
mod idx;
mod judge;
mod keys;
mod outcomes;
mod pairs;
mod paths;
mod picture;
mod problem;
mod report;
mod rule;
mod rules;
mod similar;
#[cfg(test)]
mod simulation;
mod sorted;
mod steps;
mod stuck;
mod tables;
#[cfg(test)]
mod testing;
mod text;
mod together;
mod topology;
mod trapped;
mod verdict;
mod walk;
pub mod words;

pub use explore::{Exploration, explore};
pub use facts::{KeyFacts, NodeFacts};
pub use frontiers::{Frontiers, FrontiersRef};
pub use graph::{Edge, Graph, Node, Source, Target, Via, When};
pub use idx::{ItemIdx, JoinIdx, NodeIdx, RouteIdx};
#[doc(hidden)]
pub use idx::{to_u32, to_u32 as index};
pub use judge::{judge, verdicts, verdicts_of};
pub use keys::{KeySet, MAX_KEYS};
pub use pairs::{PairTable, Pairs, PairsRef};
pub use paths::{PathEdge, Paths, PathsRef, kind};
pub use picture::{dot, mermaid};
pub use problem::{Problem, Site};
pub use report::{report, report_arm, report_routes, route_problems};
pub use rule::Rule;
pub use rules::{EndlessRow, check, check_with};
pub use similar::{same, similar};
#[doc(hidden)]
pub use sorted::{SortedMap, SortedSet};
pub use steps::Routes;
pub use stuck::Stuck;
pub use tables::{Analysis, Any, AnyRef, Tables};
pub use text::Text;
pub use topology::{Metrics, NodeInfo, Role, Topology, topology};
pub use verdict::{Conflict, Unmet, Verdict};
