//! What stands near `../fail`, and is fine.
#![deny(warnings)]
#![allow(dead_code)]

mod unknown_node {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod plain_function {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod unknown_state {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow!(WriteEssay(Essay) { START -> write -> polish });
}

mod missing_value {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow!(WriteEssay(Essay) { node first: Stamp; node second: Stamp; START -> first -> second });

    pub fn main() {
        let _run = WriteEssay::new().second(Stamp(2)).limit(5).first(Stamp(1)).run(String::new());
    }
}

mod run_without_value {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow!(WriteEssay(Essay) { node stamp: Stamp = Stamp(7); START -> stamp });

    pub fn main() {
        let _run = WriteEssay::run(String::new());
        let _run = WriteEssay::new().stamp(Stamp(8)).run(String::new());
    }
}

mod wrong_value {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow! {
        WriteEssay(Essay) {
            node stamp: Stamp = Stamp(7);
            START -> stamp;
        }
    }
}

mod unknown_value_type {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow! {
        WriteEssay(Essay) {
            node stamp: Stamp;
            START -> stamp;
        }
    }
}

mod value_named_like_a_method {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow! {
        WriteEssay(Essay) {
            node limits: Stamp = Stamp(7);
            START -> limits;
        }
    }
}

mod subflow_is_no_flow {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_of_another_state {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_wrong_input {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| ReviewInput { text: topic.into() }, out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_wrong_output {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| Some(EssayNotes(r.remarks)) };
            START -> review;
        }
    }
}

mod subflow_without_out {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |_: Review| () };
            START -> review;
        }
    }
}

mod subflow_untyped {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_keep {
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks), keep: thread };
            START -> review;
        }
    }
}

fn main() {}
