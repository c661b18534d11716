use petalflow::prelude::*;

#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Grade(u8);

#[state]
pub struct Essay {
    pub grade: Grade,
}

#[node(Essay)]
fn judge(grade: &Grade) -> EssayGrade {
    EssayGrade(Grade(grade.0 + 1))
}

fn main() {}
