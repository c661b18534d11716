//! Internal to petalflow: the model of a graph, the rules with their messages, and the analyses. Depend on `petalflow`.
//!
//! The macros check the graph of a `flow!` with it. Constant evaluation checks the types of the nodes with it. The run-time
//! builder does both.
//!
//! | module | contents |
//! | --- | --- |
//! | `graph`, `idx`, `facts`, `keys` | the model: nodes, edges, joins, and the properties of nodes and keys |
//! | `rule`, `diagnostic`, `messages` | the rules by code, and the errors that report violations |
//! | `bits`, `components`, `edges` | sets as bits, algorithms on directed graphs, the edges by their ends |
//! | `tables` | the analysis of a graph as constants |
//! | `node_rules` | the rules that depend on the types of the nodes |
//! | `analyses` | the possible runs of a graph; with the feature `analysis` |
//! | `graph_rules` | the rules that depend only on the graph; with the feature `analysis` |
//! | `diagram`, `topology` | graphs as diagrams and as data |
//! | `picture` | graphs as drawings in the documentation of flows; with the feature `analysis` |
//!
//! The macros and the run-time builder need the feature `analysis`. Other programs read the analysis from constants.
#![forbid(unsafe_code)]

#[cfg(feature = "analysis")]
mod analyses;
mod bits;
#[cfg(feature = "analysis")]
mod components;
mod diagnostic;
mod diagram;
#[cfg(feature = "analysis")]
mod edges;
mod facts;
mod graph;
#[cfg(feature = "analysis")]
mod graph_rules;
mod idx;
mod keys;
pub mod messages;
mod node_rules;
#[cfg(feature = "analysis")]
mod picture;
mod rule;
mod similar;
#[cfg(test)]
mod simulation;
mod skips;
mod tables;
#[cfg(test)]
mod testing;
mod text;
mod topology;

#[cfg(feature = "analysis")]
pub use analyses::{
    Analysis, Any, Exploration, Frontiers, PairTable, Pairs, Paths, Routes, Stuck, explore,
};
pub use diagnostic::{Diagnostic, Location};
pub use diagram::{dot, mermaid};
pub use facts::{KeyFacts, NodeFacts};
pub use graph::{Edge, Graph, Node, Source, Target, Via, When};
#[cfg(feature = "analysis")]
pub use graph_rules::{check, check_with};
#[doc(hidden)]
pub use idx::to_u32;
pub use idx::{ItemIdx, JoinIdx, NodeIdx, RouteIdx};
pub use keys::{KeySet, MAX_KEYS};
pub use node_rules::{
    Conflict, UnwrittenRead, Verdict, diagnose, report, report_arm, report_routes, verdicts,
};
#[cfg(feature = "analysis")]
pub use node_rules::{route_diagnostics, verdicts_of};
#[cfg(feature = "analysis")]
pub use picture::{picture, picture_without_style};
pub use rule::Rule;
pub use similar::{same, similar};
pub use skips::SkippableJoin;
pub use tables::{
    AnyRef, EndlessRow, FrontiersRef, PairsRef, PathEdge, PathsRef, Tables, Transition, kind,
};
pub use text::Text;
pub use topology::{Metrics, NodeInfo, Role, Topology, topology};
