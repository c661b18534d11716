//! An `Rc` in a key that is not stored.
use petalflow::prelude::*;
use std::rc::Rc;

#[derive(Clone, Default)]
struct Cache(Rc<String>);

#[state(volatile)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(default)]
    cache: Cache,
    #[key(append)]
    sources: Vec<String>,
}

#[node(Essay)]
async fn find(topic: &str, cache: &Cache) -> (EssayCache, EssaySources) {
    (EssayCache(cache.clone()), EssaySources(vec![topic.into()]))
}

flow!(Write(Essay) { find });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = Write::run("petals".to_string()).await?;
    println!("{}", essay.sources.len());
    Ok(())
}
