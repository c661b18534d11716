#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Topic(String);

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: Topic,
    #[key(input, max)]
    pub limit: std::num::NonZeroU32,
}
