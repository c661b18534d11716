use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    pub subtitle: Option<String>,
}

#[state]
pub struct Report {
    pub title: String,
}

#[node(Essay)]
async fn write(#[key(ReportTitle)] title: &str) -> EssayDraft {
    EssayDraft(title.into())
}

fn main() {}
