use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Address {
    city: String,
}

#[state]
struct Order {
    #[key(input, indexed)]
    address: Option<Address>,
}

#[node(Order)]
async fn ship(address: &Option<Address>) {
    println!("{address:?}");
}

flow!(Sell(Order) { ship; });

fn main() {}
