//! Nodes that wait.

use std::time::Duration;

use petalflow::prelude::*;

/// The state.
#[state]
#[derive(Debug)]
pub struct Waits {
    /// The number of finished waits.
    #[key(sum)]
    pub done: u32,
}

/// The length of a short wait.
pub const SHORT: Duration = Duration::from_millis(1);
/// The length of a long wait.
pub const LONG: Duration = Duration::from_millis(10);

macro_rules! waits {
    ($wait:expr; $($name:ident)*) => {$(
        /// Waits.
        #[node(Waits)]
        pub async fn $name() -> WaitsDone {
            tokio::time::sleep($wait).await;
            WaitsDone(1)
        }
    )*};
}

waits!(SHORT; s0 s1 s2 s3 s4 s5 s6 s7 s8 s9);
waits!(LONG; l0 l1 l2 l3 l4 l5 l6 l7 l8 l9 l10 l11 l12 l13 l14 l15);

flow! {
    /// Ten sequential short waits.
    pub Chain(Waits) { s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> s6 -> s7 -> s8 -> s9 }
}

flow! {
    /// Sixteen parallel long waits.
    pub Fork(Waits) {
        START -> l0 & l1 & l2 & l3 & l4 & l5 & l6 & l7 & l8 & l9 & l10 & l11 & l12 & l13 & l14 & l15;
    }
}

/// The chain by hand.
pub async fn by_hand() -> u32 {
    s0().await.0
        + s1().await.0
        + s2().await.0
        + s3().await.0
        + s4().await.0
        + s5().await.0
        + s6().await.0
        + s7().await.0
        + s8().await.0
        + s9().await.0
}
