//! Search attributes: keys with `#[key(indexed)]`, as a run and a person change them.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::checkpoint::{
    Attribute, AttributeKind, AttributeTest, InMemoryStore, Store, ThreadFilter, ThreadInfo,
    ThreadQuery,
};
use petalflow::prelude::*;
use petalflow::thread::{
    Durability, Edit, HistoryQuery, OnBusy, StoredThreads, ThreadError, Threads,
};
use tokio::sync::{Notify, Semaphore};

#[state]
#[derive(Debug)]
struct Order {
    #[key(input, indexed)]
    amount: u32,
    #[key(indexed)]
    customer: Option<String>,
    #[key(indexed, id = "is_paid")]
    paid: bool,
    #[key(sum)]
    visits: u64,
}

/// Lets a test hold a node.
#[derive(Clone)]
struct Door {
    reached: Arc<Notify>,
    open: Arc<Semaphore>,
}

impl Door {
    fn with(permits: usize) -> Self {
        Door {
            reached: Arc::default(),
            open: Arc::new(Semaphore::new(permits)),
        }
    }
}

#[node(Order)]
async fn take(amount: &u32) -> (OrderCustomer, OrderVisits) {
    let customer = (*amount > 0).then(|| format!("customer {amount}"));
    (OrderCustomer(customer), OrderVisits(1))
}

#[node(Order)]
async fn charge(door: Managed<Door>) -> petalflow::Result<(OrderPaid, OrderAmount)> {
    door.reached.notify_one();
    door.open.acquire().await?.forget();
    Ok((OrderPaid(true), OrderAmount(7)))
}

#[node(Order)]
async fn forget(paid: &bool) -> OrderCustomer {
    assert!(*paid, "it was charged");
    OrderCustomer(None)
}

flow!(Sell(Order) { take -> charge -> forget; });

fn orders(store: &InMemoryStore, door: &Door) -> Threads<Sell> {
    Sell::new().manage(door.clone()).store(store)
}

async fn info(store: &InMemoryStore, id: &str) -> ThreadInfo {
    let query = ThreadQuery {
        prefix: id,
        ..ThreadQuery::default()
    };
    let found = store.threads(query).await.expect("it lists");
    found
        .into_iter()
        .find(|info| info.id == id)
        .expect("it is listed")
}

/// The attributes of a thread in words.
async fn attributes(store: &InMemoryStore, id: &str) -> Vec<String> {
    let found = info(store, id).await.attributes.into_iter();
    found
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

#[tokio::test]
async fn f43_attributes_follow_the_checkpoints_of_a_run() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, door) = (InMemoryStore::new(), Door::with(0));
        let threads = orders(&store, &door).durability(durability);
        let run = tokio::spawn(threads.thread("one").run(5));
        door.reached.notified().await;
        if durability == Durability::Sync {
            let set = ["amount=5", "customer=customer 5"];
            assert_eq!(attributes(&store, "one").await, set);
        }
        door.open.add_permits(1);
        run.await
            .expect("it ends")
            .expect("it runs")
            .into_finished()
            .expect("it finishes");
        // `customer` is none again, and is in no index.
        let set = ["amount=7", "is_paid=true"];
        assert_eq!(attributes(&store, "one").await, set, "{durability:?}");
        let seven = AttributeTest::is(7);
        let filter = Some(ThreadFilter::Attribute("amount", &seven));
        let query = ThreadQuery {
            filter,
            ..ThreadQuery::default()
        };
        assert_eq!(threads.list(query).await.expect("it lists").len(), 1);
        assert_eq!(
            threads.counts(query).await.expect("it counts")[0].threads,
            1
        );
        // The next turn begins with another input.
        door.open.add_permits(1);
        threads
            .thread("one")
            .run(0)
            .await
            .expect("it runs")
            .into_finished()
            .expect("it finishes");
        assert_eq!(attributes(&store, "one").await, set, "{durability:?}");
    }
}

#[tokio::test]
async fn f43_what_a_person_changes_is_in_the_index() {
    let (store, door) = (InMemoryStore::new(), Door::with(2));
    let threads = orders(&store, &door);
    let thread = threads.thread("one");
    thread
        .run(5)
        .await
        .expect("it runs")
        .into_finished()
        .expect("it finishes");
    let edit = Edit::new((OrderAmount(900), OrderCustomer(Some("ann".into()))));
    thread.update(edit).await.expect("it is edited");
    let edited = ["amount=900", "customer=ann", "is_paid=true"];
    assert_eq!(attributes(&store, "one").await, edited);
    thread
        .update(Edit::new(OrderVisits(3)))
        .await
        .expect("it is edited");
    assert_eq!(attributes(&store, "one").await, edited);

    // A fork has the attributes of its checkpoint, in the thread or in another one.
    let history = thread
        .history(HistoryQuery::all())
        .await
        .expect("it is read");
    let taken = history.iter().rev().nth(1).expect("it has one").checkpoint;
    let forked = ["amount=5", "customer=customer 5"];
    let forked_to = thread.fork_to(taken, "fork").await;
    assert_eq!(forked_to.expect("it is forked").id(), "fork");
    assert_eq!(attributes(&store, "fork").await, forked);
    assert_eq!(attributes(&store, "one").await, edited);
    let copied_to = thread.copy_to("copy").await;
    assert_eq!(copied_to.expect("it is copied").id(), "copy");
    assert_eq!(attributes(&store, "copy").await, edited);
    thread.fork(taken).await.expect("it is forked");
    assert_eq!(attributes(&store, "one").await, forked);

    // So do its copies in other stores.
    let other = InMemoryStore::new();
    let all = StoredThreads::new(&store);
    all.copy_to_store("copy", &StoredThreads::new(&other))
        .await
        .expect("it is copied");
    assert_eq!(attributes(&other, "copy").await, edited);
    let file = threads
        .thread("copy")
        .export()
        .await
        .expect("it is exported");
    let other = InMemoryStore::new();
    file.write_to(&other).await.expect("it is written");
    assert_eq!(
        info(&other, "copy").await.attributes,
        info(&store, "copy").await.attributes
    );
    // A value that is not to leave is in no attribute.
    let file = all
        .export("copy", ["amount"])
        .await
        .expect("it is exported");
    assert!(
        !file.json()["attributes"].to_string().contains("900"),
        "{}",
        file.json()
    );
    let other = InMemoryStore::new();
    file.write_to(&other).await.expect("it is written");
    assert_eq!(
        attributes(&other, "copy").await,
        ["customer=ann", "is_paid=true"]
    );

    thread.delete().await.expect("it is deleted");
    let five = AttributeTest::is(5);
    let filter = Some(ThreadFilter::Attribute("amount", &five));
    let found = threads.list(ThreadQuery {
        filter,
        ..ThreadQuery::default()
    });
    let found = found.await.expect("it lists");
    assert_eq!(found.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["fork"]);
}

#[tokio::test]
async fn f43_a_turn_that_is_undone_leaves_no_attribute() {
    for has_turn_before in [true, false] {
        let (store, door) = (InMemoryStore::new(), Door::with(0));
        let threads = orders(&store, &door).on_busy(OnBusy::Rollback);
        let thread = threads.thread("one");
        if has_turn_before {
            door.open.add_permits(1);
            thread
                .run(1)
                .await
                .expect("it runs")
                .into_finished()
                .expect("it finishes");
            door.reached.notified().await;
        }
        let undone = tokio::spawn(thread.run(5));
        door.reached.notified().await;
        let set = attributes(&store, "one").await;
        assert!(set.contains(&"customer=customer 5".to_string()), "{set:?}");
        let instead = tokio::spawn(thread.run(0));
        undone.await.expect("it ends").expect_err("it is undone");
        door.reached.notified().await;
        let set = attributes(&store, "one").await;
        let expected: &[&str] = if has_turn_before {
            &["amount=0", "is_paid=true"]
        } else {
            &["amount=0"]
        };
        assert_eq!(set, expected);
        door.open.add_permits(1);
        instead
            .await
            .expect("it ends")
            .expect("it runs")
            .into_finished()
            .expect("it finishes");
    }
}

#[tokio::test]
async fn f43_a_thread_that_begins_later_is_found_by_its_input() {
    let (store, door) = (InMemoryStore::new(), Door::with(0));
    let threads = orders(&store, &door);
    let due = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    let thread = threads.thread("one");
    thread.begin_at(5_u32, due).await.expect("it is stored");
    assert_eq!(attributes(&store, "one").await, ["amount=5"]);
}

#[tokio::test]
async fn f43_a_condition_on_an_unknown_attribute_is_an_error() {
    let (store, door) = (InMemoryStore::new(), Door::with(0));
    let threads = orders(&store, &door);
    let known = [
        ("amount", AttributeKind::Number),
        ("customer", AttributeKind::Text),
        ("is_paid", AttributeKind::Bool),
    ];
    assert_eq!(threads.attributes(), known);
    let refused = async |name: &str, test: AttributeTest| -> String {
        let condition = ThreadFilter::Attribute(name, &test);
        let filter = Some(ThreadFilter::Not(&condition));
        let query = ThreadQuery {
            filter,
            ..ThreadQuery::default()
        };
        let listed = threads.list(query).await.expect_err("it is refused");
        let counted = threads.counts(query).await.expect_err("it is refused");
        assert!(matches!(listed, ThreadError::Request(_)), "{listed}");
        assert_eq!(listed.to_string(), counted.to_string());
        listed.to_string()
    };
    assert_eq!(
        refused("paid", AttributeTest::is(true)).await,
        "flow `Sell` has no attribute `paid`: it indexes `amount` (number), `customer` (text), `is_paid` (bool)"
    );
    assert_eq!(
        refused("amount", AttributeTest::starts_with("ann")).await,
        "attribute `amount` of flow `Sell` is a number, and the condition is on another type"
    );
    let filter = Some(ThreadFilter::Attribute("amount", &AttributeTest::exists()));
    let of_both = ThreadQuery {
        filter,
        ..ThreadQuery::default()
    };
    assert!(threads.list(of_both).await.expect("it lists").is_empty());
}

/// Sub-flows have no attributes: a thread has those of its own flow.
mod nested {
    use super::{BTreeMap, InMemoryStore, info};
    use petalflow::prelude::*;

    #[state]
    struct Part {
        #[key(input, indexed)]
        size: u8,
    }

    #[node(Part)]
    async fn grow(size: &u8) -> PartSize {
        PartSize(size + 1)
    }

    flow!(Grow(Part) { grow; });

    #[state]
    struct Whole {
        #[key(input)]
        size: u8,
    }

    flow!(Build(Whole) {
        node grow: Grow { in: |whole: &Whole| whole.size, out: |part: Part| WholeSize(part.size) };
        grow;
    });

    #[tokio::test]
    async fn f43_a_flow_without_indexed_keys_has_no_attributes() {
        let store = InMemoryStore::new();
        let run = Build::new().store(&store).thread("one").run(3_u8).await;
        let whole = run.expect("it runs").into_finished().expect("it finishes");
        assert_eq!(whole.size, 4);
        assert_eq!(info(&store, "one").await.attributes, BTreeMap::new());
    }
}

/// Types of keys.
mod types {
    use super::{Attribute, BTreeMap, InMemoryStore, info};
    use petalflow::prelude::*;

    #[state]
    struct Many {
        #[key(input, indexed)]
        text: String,
        #[key(indexed, default = -5)]
        small: i8,
        #[key(indexed, default = u64::MAX)]
        large: u64,
        #[key(indexed, default = 0.1)]
        ratio: f32,
        #[key(indexed, default)]
        unset: Option<f64>,
        #[key(indexed, default = Some(true))]
        flag: Option<bool>,
        #[key(indexed)]
        unwritten: u8,
    }

    #[node(Many)]
    async fn look(text: &str) {
        assert_eq!(text, "a");
    }

    flow!(Look(Many) { look; });

    #[tokio::test]
    async fn f43_each_type_has_its_value_and_what_was_not_written_has_none() {
        let store = InMemoryStore::new();
        let run = Look::new().store(&store).thread("one").run("a".to_string());
        run.await
            .expect("it runs")
            .into_finished()
            .expect("it finishes");
        let expected: [(&str, Attribute); 5] = [
            ("text", "a".into()),
            ("small", (-5).into()),
            ("large", u64::MAX.into()),
            ("ratio", 0.1.into()),
            ("flag", true.into()),
        ];
        let expected = expected.map(|(name, value)| (name.to_string(), value));
        let found = info(&store, "one").await.attributes;
        assert_eq!(found, BTreeMap::from(expected));
    }
}
