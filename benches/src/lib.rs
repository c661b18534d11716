//! The same work as a flow and by hand, for the benches, and the table that the benches print.

#![allow(clippy::missing_panics_doc)]

/// Chains of nodes, written by `build.rs`.
pub mod chain {
    /// Ten nodes.
    pub mod ten {
        include!(concat!(env!("OUT_DIR"), "/chain_10.rs"));
    }
    /// A hundred nodes.
    pub mod hundred {
        include!(concat!(env!("OUT_DIR"), "/chain_100.rs"));
    }
    /// A thousand nodes.
    pub mod thousand {
        include!(concat!(env!("OUT_DIR"), "/chain_1000.rs"));
    }
}

pub mod chat;
pub mod counter;
pub mod fork;
pub mod sleep;
pub mod table;
