// The macro call has only a path.
petalflow_conversation::conversation! { "../order.json" }

fn main() {}
