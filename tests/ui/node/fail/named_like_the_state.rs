use petalflow::prelude::*;

#[node(essay)]
async fn essay() {}

#[state]
#[allow(non_camel_case_types)]
pub struct essay {}

fn main() {}
