use petalflow::prelude::*;

struct Clock;

/// Tells the time.
#[tool]
fn time(#[run] clock: Clock) -> u32 {
    drop(clock);
    12
}

fn main() {}
