// The path is a text.
petalflow_conversation::conversation! { Order(order.json) }

fn main() {}
