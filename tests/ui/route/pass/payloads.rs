#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Topic(String);

pub type Topics = Vec<Topic>;

#[derive(Route)]
pub enum Plan {
    Write,
    Dig(Topic),
    DigAll(Topics),
    r#Box,
}
