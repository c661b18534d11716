//! A run of all threads.

use petalflow::prelude::*;

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append)]
    notes: Vec<String>,
    draft: String,
}

#[node(Essay)]
async fn plan(topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.to_string()])
}

#[node(Essay)]
async fn write(notes: &[String]) -> EssayDraft {
    EssayDraft(notes.join(" "))
}


flow!(Write(Essay) { plan -> write });

async fn run(store: petalflow::checkpoint::InMemoryStore) -> petalflow::Result<()> {
    let threads = Write::new().store(&store);
    threads.run("petals".to_string()).await?.into_finished()?;
    Ok(())
}

fn main() {}
