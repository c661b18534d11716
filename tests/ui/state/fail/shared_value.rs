//! A key that is not state: a connection.

use std::sync::Arc;

use petalflow::prelude::*;

struct Db;

#[state]
struct Essay {
    db: Arc<Db>,
}

fn main() {}
