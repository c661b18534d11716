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
async fn write(topic: &str) -> ReportTitle {
    ReportTitle(topic.into())
}

fn main() {}
