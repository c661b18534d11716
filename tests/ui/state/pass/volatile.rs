#![deny(warnings)]
#![allow(dead_code, clippy::type_complexity)]

use petalflow::prelude::*;

pub struct Handle;

#[state(volatile)]
pub struct Essay {
    #[key(input)]
    pub handle: std::sync::Arc<Handle>,
    pub hook: Option<fn() -> u8>,
    pub named: Option<fn(&str) -> &str>,
    pub title: &'static str,
    pub check: std::sync::Arc<Vec<Box<dyn Fn(&str) + Send + Sync>>>,
}
