//! An essay that is revised until its critic is content: `cargo run --bin essay`.

use petalflow::prelude::*;

/// What the essay flow knows.
#[state]
#[derive(Debug)]
pub struct Essay {
    /// What to write about.
    #[key(input)]
    pub topic: String,
    /// The essay as it stands.
    pub draft: String,
    /// What the critic said, oldest first.
    #[key(append)]
    pub notes: Vec<String>,
    /// How often it has been revised.
    #[key(sum, turn)]
    pub rounds: u32,
}

/// What the critic decides.
#[derive(Debug, Route)]
pub enum Verdict {
    /// Write it again.
    Revise,
    /// It is good enough.
    Publish,
}

/// Writes a draft that heeds every note.
#[node(Essay)]
async fn write(topic: &str, notes: &[String]) -> EssayDraft {
    let heeded: Vec<String> = notes.iter().map(|note| format!(" ({note})")).collect();
    EssayDraft(format!("On {topic}{}.", heeded.concat()))
}

/// Reads the draft and asks for more, twice.
#[node(Essay)]
async fn critique(
    draft: &str,
    rounds: &u32,
) -> petalflow::Result<(EssayNotes, EssayRounds, Verdict)> {
    if draft.is_empty() {
        return Err("there is nothing to read".into());
    }
    let (note, verdict) = match rounds {
        0 => ("say why", Verdict::Revise),
        1 => ("say how", Verdict::Revise),
        _ => ("well said", Verdict::Publish),
    };
    Ok((EssayNotes(vec![note.into()]), EssayRounds(1), verdict))
}

flow! {
    /// Drafts an essay and revises it until the critic is content.
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
        "{} rounds; the critic's last word: {:?}",
        essay.rounds,
        essay.notes.last()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A node is a function: it is tested by calling it.
    #[tokio::test]
    async fn the_writer_heeds_the_notes() {
        assert_eq!(
            write("petals", &["say why".into()]).await,
            EssayDraft("On petals (say why).".into())
        );
    }

    // Threads of the version before can go on in this one.
    #[test]
    fn stored_threads_go_on() {
        petalflow_testing::assert_flow_lock!(WriteEssay, "flow.lock");
    }

    #[tokio::test]
    async fn the_essay_is_revised_twice() {
        let essay = WriteEssay::run("petals".to_string()).await.unwrap();
        assert_eq!(essay.draft, "On petals (say why) (say how).");
        assert_eq!((essay.rounds, essay.notes.len()), (3, 3));
    }
}
