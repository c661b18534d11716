#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

pub struct Handle;

#[state(volatile)]
pub struct Essay {
    #[key(input)]
    pub handle: std::sync::Arc<Handle>,
    pub hook: Option<fn() -> u8>,
}

fn main() {}
