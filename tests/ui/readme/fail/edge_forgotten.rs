use petalflow::prelude::*;

/// The state of the essay flow.
#[state]
pub struct Essay {
    /// The topic of the essay.
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    #[key(sum, turn)]
    pub rounds: u32,
}

#[derive(Route)]
pub enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str, notes: &[String]) -> EssayDraft {
    let remarks: Vec<String> = notes.iter().map(|note| format!(" ({note})")).collect();
    EssayDraft(format!("On {topic}{}.", remarks.concat()))
}

#[node(Essay)]
async fn critique(draft: &str, rounds: &u32) -> petalflow::Result<(EssayNotes, EssayRounds, Verdict)> {
    if draft.is_empty() {
        return Err("there is no draft".into());
    }
    let (note, verdict) = match rounds {
        0 => ("say why", Verdict::Revise),
        1 => ("say how", Verdict::Revise),
        _ => ("well said", Verdict::Publish),
    };
    Ok((EssayNotes(vec![note.into()]), EssayRounds(1), verdict))
}

flow! {
    /// Drafts an essay and revises it until the critic accepts it.
    pub WriteEssay(Essay) {
        START -> write;
        critique -> match { Revise => write, Publish => END };
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run(EssayInput { topic: "petals".into() }).await?;
    println!("{}", essay.draft);
    println!("{} rounds; the last note: {:?}", essay.rounds, essay.notes.last());
    Ok(())
}
