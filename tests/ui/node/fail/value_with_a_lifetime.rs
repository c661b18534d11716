use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Shout<'a> {
    word: &'a str,
}

#[node(Essay)]
impl<'a> Shout<'a> {
    async fn run(&self, topic: &str) -> EssayDraft {
        EssayDraft(format!("{topic}{}", self.word))
    }
}

flow!(WriteEssay(Essay) { node shout: Shout<'static> = Shout { word: "!" }; shout });

fn main() {}
