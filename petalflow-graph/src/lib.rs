//! What petalflow knows about graphs: the model, the rules with their messages, and the analyses.
//!
//! The macros use it on what is written in `flow!`, constant evaluation uses it on the types of the nodes, and the run-time
//! builder uses it for both. An implementation detail of `petalflow`: depend on that instead.
//!
//! | module | contents |
//! | --- | --- |
//! | `graph`, `idx`, `facts`, `keys` | the model: nodes, edges, joins, and what is known of nodes and keys |
//! | `rule`, `diagnostic`, `messages` | the rules by code, and what is reported when one is broken |
//! | `analyses` | what a run of a graph can do |
//! | `rules` | the rules that a graph can break by itself |
//! | `tables` | the graph and its analysis as constants |
//! | `diagnose` | the rules that depend on the types of the nodes |
//! | `diagram`, `topology` | graphs as pictures and as figures |
//!
//! Nearly every function is `#[inline]`, so that it is compiled only where it is called. A program that builds no graph at run
//! time does not compile the analyses, which would be a quarter of its build.
#![forbid(unsafe_code)]

mod analyses;
mod components;
mod diagnose;
mod diagnostic;
mod diagram;
mod edges;
mod facts;
mod graph;
mod idx;
mod keys;
pub mod messages;
mod rule;
mod rules;
mod similar;
#[cfg(test)]
mod simulation;
mod sorted;
mod tables;
#[cfg(test)]
mod testing;
mod text;
mod topology;

pub use analyses::{
    EndlessRow, Exploration, Frontiers, FrontiersRef, PairTable, Pairs, PairsRef, Routes, Stuck,
    Transition, explore,
};
pub use diagnose::{
    Conflict, UnwrittenRead, Verdict, judge, report, report_arm, report_routes, route_diagnostics,
    verdicts, verdicts_of,
};
pub use diagnostic::{Diagnostic, Location};
pub use diagram::{dot, mermaid};
pub use facts::{KeyFacts, NodeFacts};
pub use graph::{Edge, Graph, Node, Source, Target, Via, When};
#[doc(hidden)]
pub use idx::to_u32;
pub use idx::{ItemIdx, JoinIdx, NodeIdx};
pub use keys::{KeySet, MAX_KEYS};
pub use rule::Rule;
pub use rules::{check, check_with};
pub use similar::{same, similar};
#[doc(hidden)]
pub use sorted::{SortedMap, SortedSet};
pub use tables::{Analysis, Any, AnyRef, PathEdge, Paths, PathsRef, Tables, kind};
pub use text::Text;
pub use topology::{Metrics, NodeInfo, Role, Topology, topology};
