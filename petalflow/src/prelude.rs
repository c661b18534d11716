//! What nearly every flow names: `use petalflow::prelude::*;`.

pub use crate::graph::{END, START};
pub use crate::{
    Context, Each, Flow, Graph, Key, Managed, Overwrite, Route, State, flow, node, state,
};
