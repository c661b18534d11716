//! The program that the tests open.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    /// What is written so far.
    pub draft: String,
    #[key(sum)]
    pub rounds: u32,
}

#[derive(Route)]
pub enum Verdict {
    /// Once more.
    Revise,
    Publish,
}

/// Writes the next draft.
#[node(Essay)]
async fn write(topic: &str, rounds: &u32) -> EssayDraft {
    EssayDraft(format!("{topic}, take {}", rounds + 1))
}

#[node(Essay)]
async fn critique(draft: &str) -> (EssayRounds, Verdict) {
    let verdict = if draft.ends_with('3') { Verdict::Publish } else { Verdict::Revise };
    (EssayRounds(1), verdict)
}

#[node(Essay)]
async fn sorry() -> EssayDraft {
    EssayDraft(String::new())
}

pub struct Shout(pub usize);

#[node(Essay)]
impl Shout {
    async fn run(&self, draft: &str) -> EssayDraft {
        EssayDraft(draft.to_uppercase().repeat(self.0))
    }
}

flow! {
    /// Drafts an essay.
    pub WriteEssay(Essay) {
        START -> write -> critique;
        critique -> match { Revise => write, Publish => shout };
        node polish = write;
        node shout: Shout = Shout(1);
        shout -> polish;
        polish -> END;
        with write { retry: 3 };
        catch write -> sorry;
        interrupt before write if |draft: &str| draft.is_empty();
    }
}

#[allow(dead_code)]
async fn again() {
    let _ = write("peonies", &0).await;
    let _ = WriteEssay::new().shout(Shout(2)).run("roses".to_string()).await;
}

fn main() {
    let run = WriteEssay::run("petals".to_string());
    drop(run);
}

#[allow(dead_code)]
fn names(_: EssayInput, _: WriteEssayBuilder) {}
