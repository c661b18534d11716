//! A key of the input that is not stored has no value in a loaded thread.

use petalflow::state;

#[state]
struct Session {
    #[key(input, untracked)]
    token: String,
    #[key(input, untracked, default)]
    color: String,
}

fn main() {}
