//! Nodes that contain another node.

mod branch_node;
mod cache;
mod cache_store;
mod map;

pub use branch_node::BranchNode;
pub use cache::{CacheConfig, CacheNode};
pub use cache_store::{CacheEntry, CacheStore, MemoryCacheStore};
pub use map::{MapConfig, MapNode};
