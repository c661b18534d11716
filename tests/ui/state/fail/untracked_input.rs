//! A key of the input that is never stored has no value when a thread is loaded.

use petalflow::state;

#[state]
struct Session {
    #[key(input, untracked)]
    token: String,
    #[key(input, untracked, default)]
    color: String,
}

fn main() {}
