//! Nodes and flows whose names are also used elsewhere: by the module of their name, by two calls of one macro, by a glob import.
use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
}

mod review {
    use super::*;

    #[node(Essay)]
    pub async fn review(topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

mod steps {
    pub mod polish {
        use crate::*;

        #[node(Essay)]
        pub(in crate::steps) async fn polish(draft: &str) -> EssayDraft {
            EssayDraft(draft.into())
        }
    }

    pub mod publish {
        use crate::*;

        #[node(Essay)]
        pub(crate) async fn publish(draft: &str) {
            let _ = draft;
        }
    }

    use petalflow::prelude::*;
    use polish::polish as polished;

    flow! {
        pub(super) Polish(super::Essay) {
            super::review::review -> polished;
        }
    }
}

use review::review as reviewed;
use steps::publish::publish;

flow! {
    ByPath(Essay) {
        review::review;
    }
}

flow! {
    ByAnotherName(Essay) {
        reviewed -> check -> publish;
        node check = review::review;
    }
}

macro_rules! same {
    () => {
        #[node(Essay)]
        fn same(topic: &str) -> EssayDraft {
            EssayDraft(topic.into())
        }

        flow! {
            pub Same(Essay) {
                same;
            }
        }
    };
}

same!();

mod inner {
    use super::*;

    same!();

    pub fn run() -> petalflow::Launch<Same> {
        Same::new()
    }
}

fn main() {
    same!();
    let _ = (
        Same::new(),
        inner::run(),
        ByPath::new(),
        ByAnotherName::new(),
        steps::Polish::new(),
    );
    {
        same!();
        let _ = Same::new();
    }
}
