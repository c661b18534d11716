//! `ask ID WISH` begins a request, and `answer ID yes|no` answers the question of a request.

use petalflow::thread::Outcome;
use petalflow_sqlite::SqliteStore;

use {{crate_name}}::{HandleRequest, MaySend};

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = SqliteStore::open("requests.db").await?;
    let threads = HandleRequest::new().store(&store);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["ask", id, wish] => threads.thread(id).run(wish.to_string()).await?,
        ["answer", id, word @ ("yes" | "no")] => {
            threads.thread(id).answer::<MaySend>(word == "yes").await?
        }
        _ => {
            eprintln!("usage: ask ID WISH | answer ID yes|no");
            std::process::exit(2);
        }
    };
    match outcome {
        Outcome::Finished(request) => println!("done: {:?}", request.log),
        Outcome::Paused(paused) => println!("{paused}"),
    }
    Ok(())
}
