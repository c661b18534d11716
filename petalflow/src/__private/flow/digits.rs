//! Digits that are types: the number of a slot. A number as a const parameter is a body of its own for rustc at each mention.
#![allow(missing_debug_implementations)]

macro_rules! digits {
    ($($digit:ident)*) => {$( pub enum $digit {} )*};
}

digits!(
    _0 _1 _2 _3 _4 _5 _6 _7 _8 _9 _10 _11 _12 _13 _14 _15 _16 _17 _18 _19 _20 _21 _22 _23 _24 _25 _26 _27 _28 _29 _30 _31
);
