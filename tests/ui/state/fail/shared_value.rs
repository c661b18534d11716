//! Keys that are not state: a connection, and a point in time.

use std::sync::Arc;
use std::time::Instant;

use petalflow::prelude::*;

struct Db;

#[state]
struct Essay {
    db: Arc<Db>,
    begun: Instant,
}

fn main() {}
