//! What is around nodes or inside them: managed values, middleware, cached results, sub-flows.

mod cache;
mod managed;
mod middleware;
mod recursion;
mod subflows;
