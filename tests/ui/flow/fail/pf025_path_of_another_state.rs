//! A node that is named by a path: one error, at its name.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

mod reviews {
    use petalflow::prelude::*;

    #[state]
    pub struct Review {
        #[key(input)]
        pub draft: String,
        pub verdict: String,
    }

    pub mod nodes {
        use super::*;

        #[node(Review)]
        pub async fn judge(draft: &str) -> ReviewVerdict {
            ReviewVerdict(draft.into())
        }
    }

    #[derive(Clone)]
    pub struct Judge<T>(pub T);

    #[node(Review)]
    impl<T: Clone + Send + Sync + 'static> Judge<T> {
        async fn run(&self, draft: &str) -> ReviewVerdict {
            ReviewVerdict(draft.into())
        }
    }
}

flow! {
    Write(Essay) {
        write -> reviews::nodes::judge -> again;
        node again: reviews::Judge<u8> = reviews::Judge(1);
    }
}

fn main() {}
