use petalflow::prelude::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Grade(u8);

#[state]
pub struct Essay {
    #[key(input, first)]
    pub grade: Grade,
}

fn main() {}
