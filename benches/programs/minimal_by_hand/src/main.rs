//! The program `minimal` without petalflow.

struct Essay {
    topic: String,
    draft: String,
}

async fn write(topic: &str) -> String {
    format!("An essay about {topic}")
}

async fn run(topic: String) -> Essay {
    let draft = write(&topic).await;
    Essay { topic, draft }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let essay = run("petals".to_string()).await;
    println!("{}", essay.draft);
    drop(essay.topic);
}
