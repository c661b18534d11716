#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

fn longest(current: &mut String, written: String) {
    if written.len() > current.len() {
        *current = written;
    }
}

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    #[key(input, append)]
    pub sources: Vec<String>,
    #[key(input, default = 3)]
    pub rounds: u32,
    #[key(prepend)]
    pub recent: Vec<String>,
    #[key(sum)]
    pub spent: Duration,
    #[key(min)]
    pub shortest: usize,
    #[key(max, default)]
    pub longest: f64,
    #[key(merge)]
    pub words: HashMap<String, usize>,
    #[key(merge, turn)]
    pub seen: BTreeSet<String>,
    #[key(first)]
    pub title: String,
    #[key(reduce = longest)]
    pub draft: String,
    #[key(reduce = |current: &mut u32, written| *current ^= written)]
    pub checksum: u32,
    #[key(skip_zero)]
    pub grade: u32,
    #[key(turn, default = "untitled".to_string(), id = "t")]
    pub heading: String,
    #[key(ephemeral)]
    pub hint: Option<String>,
    #[key(untracked, output)]
    pub text: String,
    #[key(name = EssayIn)]
    pub input: String,
    #[key(replace)]
    #[key(turn)]
    pub r#type: String,
}
