use petalflow::prelude::*;

#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Grade(u8);

#[state]
pub struct Essay {
    #[key(min)]
    pub grade: Grade,
}

fn main() {}
