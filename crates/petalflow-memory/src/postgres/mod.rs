//! Memory in a PostgreSQL database, with vector search.

mod memory;
mod range;
mod rows;
mod sql;
mod vectors;

pub use memory::PostgresMemory;
pub use vectors::PostgresVectors;
