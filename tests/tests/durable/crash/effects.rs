//! Effects that are done once, and flows within flows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use petalflow::BoxError;
use petalflow::event::TaskId;
use petalflow::prelude::*;
use petalflow::thread::Durability;
use petalflow_testing::{FaultKind, crashes};

use crate::support::list;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Order {
    #[key(input, append)]
    items: Vec<String>,
    #[key(append)]
    paid: Vec<String>,
}

/// What the world has seen: an effect by the task that asked for it.
#[derive(Clone, Debug, Default)]
struct World(Arc<Mutex<HashMap<TaskId, usize>>>);

impl World {
    async fn charge(&self, task: TaskId) -> Result<String, BoxError> {
        tokio::task::yield_now().await;
        *self.0.lock().unwrap().entry(task).or_default() += 1;
        Ok("paid".into())
    }
}

#[node(Order)]
async fn list_items(items: &[String]) -> Each<String> {
    Each(items.to_vec())
}

#[node(Order)]
async fn pay(
    #[item] item: &str,
    world: Managed<World>,
    cx: Context,
) -> petalflow::Result<OrderPaid> {
    let receipt = cx.once("pay", world.charge(cx.task_id())).await?;
    let again = cx
        .once("thank", async { Ok::<_, BoxError>(item.len()) })
        .await?;
    Ok(OrderPaid(vec![format!("{receipt} {item} {again}")]))
}

#[node(Order)]
async fn ship(paid: &[String]) -> OrderPaid {
    OrderPaid(vec![format!("shipped {}", paid.len())])
}

flow!(Sell(Order) { list_items -> each pay; pay -> ship });

#[tokio::test]
async fn recorded_effects_are_not_repeated() {
    let world = World::default();
    let (before, after, launched) = (world.clone(), world.clone(), world.clone());
    crashes(
        move || Sell::new().manage(launched.clone()),
        || list(["a", "b"]),
    )
    .turn(|| list(["c"]))
    .before(move || before.0.lock().unwrap().clear())
    .after(move |_, crashed| {
        let world = after.0.lock().unwrap();
        assert_eq!(world.len(), 5, "{crashed}: {world:?}");
        // Only a process that dies before the record is made repeats the effect, and only that one.
        let more: usize = world.values().sum::<usize>() - world.len();
        let lost = crashed.contains("`once/pay`") || crashed.contains("dropped");
        assert!(more == 0 || lost && more <= 3, "{crashed}: {world:?}");
    })
    .check()
    .await;
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Outer {
    #[key(input, append)]
    orders: Vec<String>,
    #[key(append)]
    log: Vec<String>,
}

flow!(Middle(Order) {
    node sell: Sell { in: |items: &[String]| items.to_vec(), out: |order: Order| OrderPaid(order.paid) };
    sell -> ship;
});

#[node(Outer)]
async fn orders(orders: &[String]) -> (OuterLog, Each<String>) {
    (OuterLog(list(["orders"])), Each(orders.to_vec()))
}

#[node(Outer)]
async fn beside() -> OuterLog {
    OuterLog(list(["beside"]))
}

#[node(Outer)]
async fn end(log: &[String]) -> OuterLog {
    OuterLog(vec![format!("end {}", log.len())])
}

flow!(Nested(Outer) {
    node middle: Middle { in: |orders: &[String]| orders.to_vec(), out: |order: Order| OuterLog(order.paid) };
    START -> middle & beside;
    middle & beside -> end;
});

#[tokio::test]
async fn nested_flows_resume_inside() {
    let world = World::default();
    let (before, after, launched) = (world.clone(), world.clone(), world.clone());
    crashes(
        move || Nested::new().manage(launched.clone()),
        || list(["a", "b"]),
    )
    .before(move || before.0.lock().unwrap().clear())
    .after(move |_, crashed| {
        let world = after.0.lock().unwrap();
        assert_eq!(world.len(), 2, "{crashed}: {world:?}");
        let more: usize = world.values().sum::<usize>() - world.len();
        let lost = crashed.contains("`once/pay`") || crashed.contains("dropped");
        assert!(more == 0 || lost && more <= 2, "{crashed}: {world:?}");
    })
    .check()
    .await;
    let launched = World::default();
    crashes(
        move || Nested::new().manage(launched.clone()),
        || list(["a"]),
    )
    .turn(|| list(["b"]))
    .kinds([FaultKind::KilledAfter])
    .durabilities([Durability::Async])
    .twice()
    .check()
    .await;
}

flow!(Spread(Outer) {
    node middle: Middle { in: |#[item] order: &String| vec![order.clone()], out: |order: Order| OuterLog(order.paid) };
    orders -> each middle;
    middle -> end;
});

#[tokio::test]
async fn subflows_of_items_resume_inside() {
    let world = World::default();
    crashes(
        move || Spread::new().manage(world.clone()),
        || list(["a", "b", "c"]),
    )
    .check()
    .await;
}
