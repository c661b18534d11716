//! A value type with the name of its key's type. Nodes return the value.
use petalflow::prelude::*;

#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub enum OrderStatus {
    #[default]
    Open,
    Paid,
}

#[state]
pub struct Order {
    #[key(input)]
    pub id: String,
    pub status: OrderStatus,
}

#[node(Order)]
async fn pay(id: &str) -> OrderStatus {
    if id.is_empty() {
        OrderStatus::Open
    } else {
        OrderStatus::Paid
    }
}

#[node(Order)]
async fn ship(id: &str, status: &OrderStatus) {
    println!("{id} {status:?}");
}

flow!(SellOrder(Order) { pay -> ship });

#[tokio::main]
async fn main() {
    let order = SellOrder::run(OrderInput { id: "7".into() }).await.unwrap();
    assert_eq!(order.status, OrderStatus::Paid);
}
