//! A state with schemas needs the schema of each key's type.
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Default, Serialize, Deserialize)]
struct Money(u64);

#[state(schema)]
struct Invoice {
    #[key(input)]
    total: Money,
    paid: bool,
}

fn main() {}
