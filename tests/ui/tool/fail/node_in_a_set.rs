use petalflow::prelude::*;

#[state]
struct Essay {}

#[node(Essay)]
async fn write() {}

fn main() {
    let _ = tools![write];
}
