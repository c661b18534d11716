use petalflow::prelude::*;

#[derive(Clone, Default)]
pub struct Grade(u8);

#[state]
pub struct Essay {
    pub grade: Grade,
}

#[node(Essay)]
fn judge() -> EssayGrade {
    EssayGrade(Grade(1))
}

fn main() {}
