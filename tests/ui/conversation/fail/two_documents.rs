// One conversation is one document.
petalflow_conversation::conversation! { Order("../order.json") Other("../order.json") }

fn main() {}
