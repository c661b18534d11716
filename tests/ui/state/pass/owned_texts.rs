//! Strings without an allocation.

use petalflow::prelude::*;
use std::borrow::Cow;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: Cow<'static, str>,
    pub draft: Vec<Cow<'static, str>>,
}
