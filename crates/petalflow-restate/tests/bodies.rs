//! Bodies above what Restate takes are objects of an object store.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::ObjectStore as _;
use object_store::memory::InMemory;
use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow_restate::{Bodies, Client, Endpoint, RestateError, RestateFlow};

use crate::support::{PATIENCE, Server};

const LARGE: usize = 34_000_000;

#[state]
struct Book {
    #[key(input)]
    text: String,
    #[key(append)]
    pages: Vec<String>,
    #[key(sum)]
    letters: u64,
}

#[node(Book)]
async fn copy(text: &str) -> BookPages {
    BookPages(vec![text.to_uppercase()])
}

#[node(Book)]
async fn count(pages: &[String]) -> BookLetters {
    BookLetters(pages.iter().map(|page| page.len() as u64).sum())
}

#[node(Book)]
async fn review(cx: Context) -> petalflow::Result<BookPages> {
    Ok(BookPages(vec![cx.ask(Review {}).await?]))
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct Review {}

flow!(Printing(Book) {
    copy -> count -> review;
    with copy { remote: "copiers" };
});

async fn serve(server: &Server, flow: &RestateFlow<Printing>) {
    let driver = Endpoint::new().threads(flow).unwrap();
    let host = Endpoint::new().nodes(flow, "copiers").unwrap();
    for endpoint in [driver, host] {
        let bound = endpoint.bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", bound.address());
        tokio::spawn(bound.serve());
        server.admin().register(&url).await.unwrap();
    }
}

/// The versions of the objects of the store.
async fn versions(objects: &InMemory) -> Vec<u64> {
    let objects: Vec<_> = objects.list(None).try_collect().await.unwrap();
    let mut versions: Vec<u64> = objects
        .iter()
        .map(|object| {
            let parts: Vec<_> = object.location.parts().collect();
            assert_eq!(parts[0].as_ref(), "petalflow_Threads_Printing");
            assert_eq!(parts[1].as_ref(), "ann%2Fbook");
            parts[3].as_ref().parse().unwrap()
        })
        .collect();
    versions.sort_unstable();
    versions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_above_the_limit_of_restate_are_objects() {
    let Some(server) = Server::start().await else {
        return;
    };
    let objects = Arc::new(InMemory::new());
    let flow = RestateFlow::new(Printing::new()).bodies(Bodies::new(objects.clone()));
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann/book");
    // The input, what the placed node gets and returns, the state and the answer are large.
    thread.begin("x".repeat(LARGE)).await.unwrap();
    let rest = thread.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Waiting, "{:?}", rest.failure);
    thread.answer::<Review>("y".repeat(LARGE)).await.unwrap();
    let rest = thread.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Finished, "{:?}", rest.failure);
    let state = thread.snapshot().await.unwrap().expect("it ended").state;
    assert_eq!(state.letters, LARGE as u64);
    assert_eq!(state.pages, ["X".repeat(LARGE), "y".repeat(LARGE)]);
    // The objects of the newest version, and of the one before it.
    let found = versions(&objects).await;
    assert!(
        found
            .iter()
            .all(|version| version + 1 >= *found.last().unwrap()),
        "{found:?}"
    );

    // A process that is not told where they are says so.
    let elsewhere = RestateFlow::new(Printing::new());
    let read = Client::new(&elsewhere, server.ingress())
        .thread("ann/book")
        .snapshot()
        .await;
    let Err(RestateError::Body(error)) = read else {
        panic!("it has no objects");
    };
    assert_eq!(
        error.to_string(),
        "a body is in an object store: give this process the same `RestateFlow::bodies`"
    );

    // A new thread of the same id has other objects, so those of the deleted one go without harm.
    thread.delete().await.unwrap();
    thread.begin("z".repeat(LARGE)).await.unwrap();
    let rest = thread.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Waiting, "{:?}", rest.failure);
    let state = thread.snapshot().await.unwrap().expect("it waits").state;
    assert_eq!(state.pages, ["Z".repeat(LARGE)]);
    thread.delete().await.unwrap();
    tokio::time::timeout(PATIENCE, async {
        while !versions(&objects).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("no object remains");
}
