//! Node values of a generic type are nodes for each type that threads can share.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
}

pub trait Model {
    fn ask(&self, question: &str) -> String;
}

pub struct Echo;

impl Model for Echo {
    fn ask(&self, question: &str) -> String {
        question.to_owned()
    }
}

/// Neither parameter is bounded by `Send`, `Sync` or `'static`.
pub struct Writer<M, T> {
    pub model: M,
    pub suffix: T,
}

#[node(Essay)]
impl<M: Model, T> Writer<M, T>
where
    T: ToString,
{
    async fn run(&self, topic: &str) -> EssayDraft {
        EssayDraft(self.model.ask(topic) + &self.suffix.to_string())
    }
}

flow! {
    WriteEssay(Essay) {
        node write: Writer<Echo, char> = Writer { model: Echo, suffix: '!' };
        write;
    }
}

#[tokio::test]
async fn a_generic_node_value_runs() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    assert_eq!(essay.draft, "petals!");
    Ok(())
}
