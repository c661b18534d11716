//! Documents that run.

mod load;
mod schemas;
