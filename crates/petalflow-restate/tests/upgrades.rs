//! A release while a thread waits for a person beside a placed node that has ended, and hosts of another version.

use petalflow::checkpoint::ThreadStatus;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow_restate::{Client, Endpoint, Rest, RestateFlow, RestateThread};

use crate::support::{PATIENCE, Server};

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
struct MayI {}

/// A version of the flow, with this second key.
macro_rules! version {
    ($name:ident: $ty:ty) => {
        mod $name {
            use petalflow::prelude::*;

            #[state]
            pub(super) struct Doc {
                #[key(input)]
                pub(super) text: String,
                #[key(append)]
                pub(super) log: Vec<String>,
                pub(super) pages: $ty,
            }

            #[node(Doc)]
            async fn far() -> (DocLog, DocPages) {
                (DocLog(vec!["far".into()]), DocPages(Default::default()))
            }

            #[node(Doc)]
            async fn ask(cx: Context) -> petalflow::Result<DocLog> {
                let yes = cx.ask(super::MayI {}).await?;
                Ok(DocLog(vec![format!("answer {yes}")]))
            }

            flow!(pub(super) Review(Doc) { START -> far & ask; with far { remote: "pool" } });
        }
    };
}

version!(narrow: Option<u32>);
version!(wide: Option<u64>);

/// As `narrow`, with one more key.
mod more {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
        pub(super) pages: Option<u32>,
        pub(super) note: Option<String>,
    }

    #[node(Doc)]
    async fn far() -> (DocLog, DocPages) {
        (DocLog(vec!["far".into()]), DocPages(Default::default()))
    }

    #[node(Doc)]
    async fn ask(cx: Context) -> petalflow::Result<DocLog> {
        let yes = cx.ask(super::MayI {}).await?;
        Ok(DocLog(vec![format!("answer {yes}")]))
    }

    flow!(pub(super) Review(Doc) { START -> far & ask; with far { remote: "pool" } });
}

async fn register(server: &Server, endpoint: Endpoint) {
    let bound = endpoint.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", bound.address());
    tokio::spawn(bound.serve());
    server.admin().register(&url).await.unwrap();
}

async fn drive<F: Flow<State: Storable>>(server: &Server, flow: &RestateFlow<F>) {
    register(server, Endpoint::new().threads(flow).unwrap()).await;
}

async fn host<F: Flow<State: Storable>>(server: &Server, flow: &RestateFlow<F>) {
    register(server, Endpoint::new().nodes(flow, "pool").unwrap()).await;
}

async fn rest<F: Flow<State: Storable>>(thread: &RestateThread<F>) -> Rest {
    let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
    rest.expect("it comes to rest").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_release_goes_on_with_a_thread_that_waits_beside_a_finished_node() {
    // Which of the driver and the host are released, the last one before the answer.
    for (hosts, drivers) in [(true, true), (false, true), (true, false)] {
        let Some(server) = Server::start().await else {
            return;
        };
        let old = RestateFlow::new(narrow::Review::new());
        let new = RestateFlow::new(more::Review::new());
        drive(&server, &old).await;
        host(&server, &old).await;
        let before = Client::new(&old, server.ingress()).thread("ann");
        before.begin("text".to_string()).await.unwrap();
        assert_eq!(rest(&before).await.status, ThreadStatus::Waiting);
        if hosts {
            host(&server, &new).await;
        }
        let after = Client::new(&new, server.ingress()).thread("ann");
        if drivers {
            drive(&server, &new).await;
            after.answer::<MayI>(true).await.unwrap();
        } else {
            before.answer::<MayI>(true).await.unwrap();
        }
        let rest = rest(&after).await;
        assert_eq!(rest.status, ThreadStatus::Finished, "{rest:?}");
        let log = after.snapshot().await.unwrap().unwrap().state.log;
        assert_eq!(
            log,
            ["far", "answer true"],
            "hosts {hosts}, drivers {drivers}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_result_of_another_version_fails_with_words_and_goes_on_after_the_release() {
    let Some(server) = Server::start().await else {
        return;
    };
    let old = RestateFlow::new(narrow::Review::new());
    let new = RestateFlow::new(wide::Review::new());
    drive(&server, &old).await;
    host(&server, &old).await;
    let thread = Client::new(&old, server.ingress()).thread("ann");
    thread.begin("text".to_string()).await.unwrap();
    assert_eq!(rest(&thread).await.status, ThreadStatus::Waiting);

    drive(&server, &new).await;
    let thread = Client::new(&new, server.ingress()).thread("ann");
    thread.answer::<MayI>(true).await.unwrap();
    let failed = rest(&thread).await;
    assert_eq!(failed.status, ThreadStatus::Failed);
    let failure = failed.failure.expect("it says why");
    assert!(
        failure.starts_with("the result of node `far` cannot be used"),
        "{failure}"
    );

    host(&server, &new).await;
    thread.resume(()).await.unwrap();
    assert_eq!(rest(&thread).await.status, ThreadStatus::Finished);
    let log = thread.snapshot().await.unwrap().unwrap().state.log;
    assert_eq!(log, ["far", "answer true"]);
}

mod unreadable {
    use restate_sdk::prelude::*;

    /// A host whose answers no driver can read.
    pub(super) struct Unreadable;

    #[restate_sdk::service(name = "garbled_Nodes_Review_pool")]
    impl Unreadable {
        #[handler]
        async fn run(&self, _ctx: Context<'_>, _call: Vec<u8>) -> Result<Vec<u8>, HandlerError> {
            Ok(b"no batch".to_vec())
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_an_answer_that_cannot_be_read_is_asked_for_again_and_then_fails_with_words() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(narrow::Review::new()).prefix("garbled_");
    drive(&server, &flow).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = restate_sdk::prelude::Endpoint::builder()
        .bind(unreadable::Unreadable)
        .build();
    tokio::spawn(restate_sdk::prelude::HttpServer::new(endpoint).serve(listener));
    server.admin().register(&url).await.unwrap();

    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("text".to_string()).await.unwrap();
    let failed = rest(&thread).await;
    assert_eq!(failed.status, ThreadStatus::Failed);
    let failure = failed.failure.expect("it says why");
    assert!(
        failure.starts_with(
            "the answer of `garbled_Nodes_Review_pool` for node `far` cannot be read, 3 times: "
        ),
        "{failure}"
    );
    host(&server, &flow).await;
    thread.resume(()).await.unwrap();
    assert_eq!(rest(&thread).await.status, ThreadStatus::Waiting);
}
