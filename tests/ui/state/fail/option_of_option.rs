use std::collections::BTreeMap;

use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub grade: Option<Option<u8>>,
    pub grades: BTreeMap<String, Vec<Option<()>>>,
    #[key(untracked)]
    pub scratch: Option<Option<u8>>,
}

#[state(volatile)]
pub struct Draft {
    pub grade: Option<Option<u8>>,
}

#[node(Essay)]
fn judge() -> EssayGrade {
    EssayGrade(Some(None))
}

fn main() {}
