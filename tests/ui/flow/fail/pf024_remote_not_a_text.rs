//! A pool that is not a string.

use petalflow::prelude::*;

#[state]
struct Crawl {
    #[key(append)]
    texts: Vec<String>,
}

#[node(Crawl)]
async fn fetch() -> CrawlTexts {
    CrawlTexts(vec![])
}

flow! {
    CrawlAll(Crawl) {
        fetch;
        with fetch { remote: true };
    }
}

fn main() {}
