//! An essay that is revised until a critic accepts it: `cargo run --bin essay`.

use petalflow::prelude::*;

/// The state of the essay flow.
#[state]
#[derive(Debug)]
pub struct Essay {
    /// The topic of the essay.
    #[key(input)]
    pub topic: String,
    /// The current text.
    pub draft: String,
    /// The notes of the critic, oldest first.
    #[key(append)]
    pub notes: Vec<String>,
    /// The number of reviews.
    #[key(sum, turn)]
    pub rounds: u32,
}

/// The decision of the critic.
#[derive(Debug, Route)]
pub enum Verdict {
    /// Write it again.
    Revise,
    /// It is good enough.
    Publish,
}

/// Writes a draft that answers every note.
#[node(Essay)]
async fn write(topic: &str, notes: &[String]) -> EssayDraft {
    let remarks: Vec<String> = notes.iter().map(|note| format!(" ({note})")).collect();
    EssayDraft(format!("On {topic}{}.", remarks.concat()))
}

/// Reads the draft and requests a revision twice.
#[node(Essay)]
async fn critique(
    draft: &str,
    rounds: &u32,
) -> petalflow::Result<(EssayNotes, EssayRounds, Verdict)> {
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
        START -> write -> critique;
        critique -> match { Revise => write, Publish => END };
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run(EssayInput {
        topic: "petals".into(),
    })
    .await?;
    println!("{}", essay.draft);
    println!(
        "{} rounds; the last note: {:?}",
        essay.rounds,
        essay.notes.last()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A node is a function, so a test calls it.
    #[tokio::test]
    async fn the_writer_answers_the_notes() {
        assert_eq!(
            write("petals", &["say why".into()]).await,
            EssayDraft("On petals (say why).".into())
        );
    }

    // Threads of the previous version can resume in this one.
    #[test]
    fn stored_threads_resume() {
        petalflow_testing::assert_flow_lock!(WriteEssay, "flow.lock");
    }

    #[tokio::test]
    async fn the_essay_is_revised_twice() {
        let essay = WriteEssay::run("petals".to_string()).await.unwrap();
        assert_eq!(essay.draft, "On petals (say why) (say how).");
        assert_eq!((essay.rounds, essay.notes.len()), (3, 3));
    }
}
