//! All ways in which writes fold, through crashes and long histories.

use std::collections::BTreeMap;

use petalflow::prelude::*;
use petalflow::testing::{Window, crashes};
use petalflow::thread::Durability;
use petalflow::{Message, Overwrite, Remove};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    id: Option<String>,
    text: String,
}

