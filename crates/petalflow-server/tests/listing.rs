//! The list of threads: orders, conditions, pages and counts.

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadChange};
use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, ServedFlow, Server};
use serde_json::{Value, json};

use crate::kit::get;

#[state]
struct Note {
    #[key(input)]
    text: String,
    length: usize,
}

#[node(Note)]
async fn measure(text: &str) -> NoteLength {
    NoteLength(text.len())
}

flow!(Notes(Note) { measure });
flow!(Letters(Note) { measure });

/// Twelve threads of two flows, each created later than the one before, and one whose first run is in progress.
async fn fill(store: &InMemoryStore) {
    for (number, turn) in (0..12_u64).zip(0_usize..) {
        let flow = ["Notes", "Letters"][turn % 2];
        let id = format!("{flow}:{number:02}");
        let first = StoredCheckpoint {
            seq: 1,
            base: 1,
            created_ms: 1_000 + number,
            bytes: vec![7],
        };
        let address = Address::root(&id);
        let appended = store.append(address, &first, None, 0..0, None).await;
        appended.expect("it is stored");
        let ended = [
            ThreadStatus::Finished,
            ThreadStatus::Failed,
            ThreadStatus::Held,
        ][turn % 3];
        let status = ThreadChange::Status {
            flow,
            status: ended,
            due_ms: None,
        };
        if number < 11 {
            store.describe(&id, status, None).await.expect("it is set");
        }
        let user = if number < 6 { "ann" } else { "ben" };
        let labels = [
            ("user", user),
            ("topic", if number % 4 == 0 { "tea" } else { "ink" }),
        ];
        let labels = labels.map(|(name, value)| (name.to_string(), value.to_string()));
        let labels = labels.into_iter().collect();
        let labels = ThreadChange::Labels(&labels);
        store.describe(&id, labels, None).await.expect("it is set");
    }
    // Another program's thread, whose flow is not served.
    let other = StoredCheckpoint {
        seq: 1,
        base: 1,
        created_ms: 1,
        bytes: vec![7],
    };
    let appended = store.append(Address::root("other"), &other, None, 0..0, None);
    appended.await.expect("it is stored");
    let listed = store.threads(ThreadQuery::default()).await;
    assert_eq!(listed.expect("they are listed").len(), 13);
}

async fn router() -> Router {
    let store = InMemoryStore::new();
    fill(&store).await;
    let server = Server::builder(&store)
        .flow(Notes::new())
        .flow(Letters::new())
        .threads(TriggerAuth::None)
        .access(|request| {
            let user = request.headers.get("x-user");
            user.and_then(|user| user.to_str().ok())
                .map_or(Access::All, |user| Access::label("user", user))
        });
    server.build().expect("the settings are right").router()
}

async fn ids(router: &Router, query: &str) -> Vec<String> {
    let list = get(router, &format!("/threads{query}")).await.json();
    let threads = list["threads"].as_array().expect("threads");
    let ids = threads.iter().map(|thread| thread["id"].as_str());
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn f43_threads_are_listed_newest_first_page_by_page() {
    let router = router().await;
    let newest = ids(&router, "?order=created-newest&limit=3").await;
    assert_eq!(newest, ["Letters:11", "Notes:10", "Letters:09"]);
    for order in [
        "created-newest",
        "created-oldest",
        "updated-newest",
        "updated-oldest",
        "id",
    ] {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/threads?order={order}&limit=5{after}");
            let page = get(&router, &path).await.json();
            let threads = page["threads"].as_array().expect("threads");
            found.extend(threads.iter().map(|it| it["id"].as_str().map(String::from)));
            let Some(next) = page["next"].as_str() else {
                break;
            };
            after = format!("&after={next}");
        }
        let found: Vec<String> = found.into_iter().flatten().collect();
        let mut expected: Vec<String> = ids(&router, "").await;
        assert_eq!(
            expected.len(),
            12,
            "the thread of another program is not listed"
        );
        if order != "id" {
            expected.sort_by_key(|id| id.split(':').nth(1).map(String::from));
            if order.ends_with("newest") {
                expected.reverse();
            }
        }
        assert_eq!(found, expected, "{order}");
    }
}

#[tokio::test]
async fn f43_conditions_are_repeated_and_combined() {
    let router = router().await;
    for (query, expected) in [
        ("?flow=Notes&status=failed", &["Notes:04", "Notes:10"][..]),
        (
            "?status=failed&status=held&label=user:ann",
            &["Letters:01", "Letters:05", "Notes:02", "Notes:04"],
        ),
        (
            "?flow=Notes&flow=Letters&label=topic:tea&label=user:ben",
            &["Notes:08"],
        ),
        (
            "?flow=Letters&any_label=topic:tea&any_label=user:ann",
            &["Letters:01", "Letters:03", "Letters:05"],
        ),
        ("?not_label=user:ann&not_label=topic:ink", &["Notes:08"]),
        (
            "?created_from_ms=1003&created_before_ms=1005",
            &["Letters:03", "Notes:04"],
        ),
        (
            "?updated_from_ms=1010&updated_before_ms=2000&status=running",
            &["Letters:11"],
        ),
        (
            "?flow=Notes&prefix=Notes:0&status=finished",
            &["Notes:00", "Notes:06"],
        ),
    ] {
        assert_eq!(ids(&router, query).await, expected, "{query}");
    }
    for (query, problem) in [
        ("?order=best", "`created-newest`"),
        ("?status=lost", "there is no status `lost`"),
        ("?label=user", "write `name:value`"),
        ("?limit=few", "`limit=few` is not a number"),
        (
            "?created_from_ms=-1",
            "`created_from_ms=-1` is not a number",
        ),
        (
            "?order=created-newest&after=Notes",
            "use `next` of the page before",
        ),
        (
            "?colour=red",
            "unknown field `colour`, expected one of `flow`",
        ),
    ] {
        let refused = get(&router, &format!("/threads{query}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(refused.text.contains(problem), "{query}: {}", refused.text);
    }
}

#[tokio::test]
async fn f43_threads_are_counted_by_flow_and_status() {
    let router = router().await;
    let counts = async |query: &str| {
        let counts = get(&router, &format!("/thread-counts{query}")).await.json();
        let counts = counts["counts"].as_array().cloned().unwrap_or_default();
        let line = |count: &Value| {
            let text = |name: &str| count[name].as_str().unwrap_or_default().to_string();
            format!("{} {} {}", text("flow"), text("status"), count["threads"])
        };
        counts.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        counts("").await,
        [
            "Letters running 1",
            "Letters failed 2",
            "Letters finished 2",
            "Letters held 1",
            "Notes failed 2",
            "Notes finished 2",
            "Notes held 2",
        ]
    );
    assert_eq!(
        counts("?flow=Letters&status=failed&status=running").await,
        ["Letters running 1", "Letters failed 2"]
    );
    assert_eq!(
        counts("?label=user:ann&label=topic:tea").await,
        ["Notes failed 1", "Notes finished 1"]
    );
    let flows = get(&router, "/flows").await.json();
    assert_eq!(
        flows["flows"][0]["threads"],
        json!({ "failed": 2, "finished": 2, "held": 2 })
    );
    let flow = get(&router, "/flows/Letters").await.json();
    let expected = json!({ "running": 1, "failed": 2, "finished": 2, "held": 1 });
    assert_eq!(flow["threads"], expected);
}

/// Flows whose keys are indexed.
mod attributes {
    use super::*;

    #[state]
    struct Order {
        #[key(input, indexed)]
        amount: u32,
        #[key(indexed)]
        customer: String,
    }

    #[state]
    struct Wish {
        #[key(input, indexed)]
        amount: String,
    }

    #[node(Order)]
    async fn assign(amount: &u32) -> OrderCustomer {
        OrderCustomer(format!("customer {amount}"))
    }

    #[node(Wish)]
    async fn hear(amount: &str) -> WishAmount {
        WishAmount(format!("{amount}!"))
    }

    flow!(Orders(Order) { assign; });
    flow!(Wishes(Wish) { hear; });

    async fn router() -> Router {
        let store = InMemoryStore::new();
        for amount in [5, 50, 500] {
            let id = format!("Orders:{amount}");
            let run = Orders::new().store(&store).thread(id).run(amount).await;
            run.expect("it runs").into_finished().expect("it finishes");
        }
        let wish = Wishes::new().store(&store).thread("Wishes:1");
        let run = wish.run("a lot".to_string()).await;
        run.expect("it runs").into_finished().expect("it finishes");
        let server = Server::builder(&store)
            .flow(Orders::new())
            .flow(Wishes::new())
            .flow(Notes::new())
            .threads(TriggerAuth::None);
        server.build().expect("the settings are right").router()
    }

    #[tokio::test]
    async fn f43_threads_are_found_by_their_attributes() {
        let router = router().await;
        let found =
            async |query: &str| ids(&router, &format!("?order=created-oldest&{query}")).await;
        assert_eq!(
            found("where=amount%3E10").await,
            ["Orders:50", "Orders:500"]
        );
        assert_eq!(
            found("where=amount%3E%3D50&where=customer*%3D500").await,
            ["Orders:500"]
        );
        assert_eq!(found("where=amount%3Da+lot!").await, ["Wishes:1"]);
        assert_eq!(
            found("where=amount%21%3D5&flow=Orders").await,
            ["Orders:50", "Orders:500"]
        );
        assert_eq!(found("where=amount%3C5").await, [""; 0]);
        let page = get(
            &router,
            "/threads?order=created-newest&limit=1&where=amount%3E10",
        )
        .await
        .json();
        assert_eq!(page["threads"][0]["id"], "Orders:500");
        assert_eq!(
            page["threads"][0]["attributes"],
            json!({ "amount": 500, "customer": "customer 500" })
        );
        let after = page["next"].as_str().expect("there is another page");
        let path = format!("/threads?order=created-newest&limit=1&where=amount%3E10&after={after}");
        assert_eq!(
            get(&router, &path).await.json()["threads"][0]["id"],
            "Orders:50"
        );
        let counts = get(&router, "/thread-counts?where=amount%3E10")
            .await
            .json();
        assert_eq!(
            counts["counts"][0],
            json!({ "flow": "Orders", "status": "finished", "threads": 2 })
        );
        let flows = get(&router, "/flows/Orders").await.json();
        assert_eq!(
            flows["attributes"],
            json!({ "amount": "number", "customer": "text" })
        );
    }

    #[tokio::test]
    async fn f43_a_condition_that_no_thread_can_meet_is_refused() {
        let router = router().await;
        for (query, error) in [
            (
                "where=amuont%3E10",
                "no flow has the attribute `amuont`: there are `amount` (number), `amount` (text), `customer` (text)",
            ),
            (
                "flow=Wishes&where=customer%3Dann",
                "no flow has the attribute `customer`: there are `amount` (text)",
            ),
            (
                "flow=Notes&where=amount%3E10",
                "no flow has the attribute `amount`: no key is marked `indexed`",
            ),
            (
                "flow=Orders&where=amount%3Ecat",
                "`amount>cat` compares the attribute `amount` with a value of another type: it is a number in flow `Orders`",
            ),
            ("where=amount", "`amount` is no condition on an attribute"),
        ] {
            for path in ["threads", "thread-counts"] {
                let refused = get(&router, &format!("/{path}?{query}")).await;
                assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}");
                let found = refused.json()["error"].to_string();
                assert!(found.contains(error), "{query}: {found}");
            }
        }
    }

    #[tokio::test]
    async fn f43_an_indexed_key_is_no_secret_of_the_server() {
        let served = ServedFlow::new(Orders::new()).secret("customer");
        let server = Server::builder(&InMemoryStore::new())
            .serve_flow(served)
            .threads(TriggerAuth::None);
        let errors = server.build().expect_err("its lists would show the key");
        let errors: Vec<String> = errors.errors().iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "key `customer` of flow `Orders` is to be secret, and it is `indexed`, so lists show its value: remove one of the two"
            ]
        );
    }
}
