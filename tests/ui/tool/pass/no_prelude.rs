#![no_implicit_prelude]
#![allow(dead_code)]

struct Option;
struct Result;
struct String;
struct Vec;
struct Box;
trait Send {}
trait Clone {}
trait Default {}

fn risky(_: &::core::primitive::u8) -> ::core::primitive::bool {
    false
}

/// Adds.
#[::petalflow::tool(confirm = risky, timeout = 1s, retry = 2)]
async fn add(
    /// A number.
    n: ::core::primitive::u8,
    #[run] cx: ::petalflow::Context,
) -> ::core::result::Result<::core::primitive::u8, ::petalflow::BoxError> {
    ::core::mem::drop(cx);
    ::core::result::Result::Ok(n)
}

/// Blocks.
#[::petalflow::tool(blocking)]
fn block(words: ::core::option::Option<::std::string::String>) {
    ::core::mem::drop(words);
}

#[::core::prelude::v1::test]
fn the_tools_are_listed() {
    let _ = ::petalflow::tools![add, block];
}
