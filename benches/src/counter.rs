//! One node in a loop.

use std::hint::black_box;

use petalflow::prelude::*;

/// The state of the counter.
#[state]
#[derive(Debug)]
pub struct Counter {
    /// The present number.
    #[key(input)]
    pub n: u64,
}

/// Adds one, and repeats up to ten thousand.
#[node(Counter)]
#[inline(never)]
pub async fn add(n: &u64) -> (CounterN, bool) {
    (CounterN(black_box(*n + 1)), *n < 9_999)
}

flow! {
    /// Counts to ten thousand.
    pub Count(Counter) { add -> match { true => add, false => END } }
}

/// The same by hand.
pub async fn by_hand(mut n: u64) -> u64 {
    let mut node = 0_u32;
    loop {
        match black_box(node) {
            0 => {
                let (next, more) = add(&n).await;
                n = next.0;
                node = u32::from(!more);
            }
            _ => return n,
        }
    }
}
