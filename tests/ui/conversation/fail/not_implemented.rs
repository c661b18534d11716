// The trait is not implemented.
petalflow_conversations::conversation! { Order("../order.json") }

struct Kitchen;

fn main() {
    let _ = Order::builder(Kitchen);
}
