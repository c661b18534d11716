//! Sixteen parallel nodes and a join, for a hundred rounds.

use std::hint::black_box;

use petalflow::prelude::*;

/// The state.
#[state]
#[derive(Debug)]
pub struct Sums {
    /// The sum of all.
    #[key(sum)]
    pub total: u64,
    /// The number of rounds.
    #[key(sum)]
    pub rounds: u64,
}

macro_rules! workers {
    ($($name:ident)*) => {$(
        /// Adds one.
        #[node(Sums)]
        #[inline(never)]
        pub async fn $name(rounds: &u64) -> SumsTotal {
            SumsTotal(black_box(1 + (*rounds >> 63)))
        }
    )*};
}

workers!(w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15);

/// Begins a round.
#[node(Sums)]
#[inline(never)]
pub async fn begin() {}

/// Ends a round.
#[node(Sums)]
#[inline(never)]
pub async fn gather(rounds: &u64) -> (SumsRounds, bool) {
    (SumsRounds(1), *rounds < 99)
}

flow! {
    /// A hundred rounds of sixteen.
    pub Rounds(Sums) {
        START -> begin -> w0 & w1 & w2 & w3 & w4 & w5 & w6 & w7 & w8 & w9 & w10 & w11 & w12 & w13 & w14 & w15 -> gather;
        gather -> match { true => begin, false => END };
    }
}

/// The same by hand, sequentially.
pub async fn by_hand() -> (u64, u64) {
    let (mut total, mut rounds) = (0, 0);
    loop {
        begin().await;
        total += w0(&rounds).await.0;
        total += w1(&rounds).await.0;
        total += w2(&rounds).await.0;
        total += w3(&rounds).await.0;
        total += w4(&rounds).await.0;
        total += w5(&rounds).await.0;
        total += w6(&rounds).await.0;
        total += w7(&rounds).await.0;
        total += w8(&rounds).await.0;
        total += w9(&rounds).await.0;
        total += w10(&rounds).await.0;
        total += w11(&rounds).await.0;
        total += w12(&rounds).await.0;
        total += w13(&rounds).await.0;
        total += w14(&rounds).await.0;
        total += w15(&rounds).await.0;
        let (one, more) = gather(&rounds).await;
        rounds += one.0;
        if !more {
            return (total, rounds);
        }
    }
}
