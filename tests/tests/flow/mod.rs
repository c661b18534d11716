//! The forms of the language of `flow!`, each as a flow that runs.
#![allow(
    clippy::no_effect_underscore_binding,
    reason = "what is tested is that it compiles"
)]
#![allow(unused_qualifications, reason = "names are taken on purpose")]

mod generated;
mod hygiene;
mod language;
mod shadows;
mod subflow;
mod values;

/// What the nodes of these tests write: their names, in order.
#[petalflow::state]
#[derive(Debug)]
pub(crate) struct Seen {
    #[key(append)]
    pub(crate) names: Vec<String>,
}

/// The names a run has seen.
macro_rules! seen {
    ($flow:ident) => {
        $flow::run(()).await.expect("the flow runs").names
    };
}

/// Nodes that write their names.
macro_rules! named {
    ($($node:ident)*) => {$(
        #[petalflow::node(crate::flow::Seen)]
        async fn $node() -> crate::flow::SeenNames {
            crate::flow::SeenNames(vec![stringify!($node).into()])
        }
    )*};
}

pub(crate) use {named, seen};
