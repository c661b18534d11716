//! Tokens of several elements, one after the other.
//!
//! Each program that uses the macros compiles them without optimization. A chain of iterators is then compiled once per closure,
//! and these functions once per type of element.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The tokens of each element.
pub(crate) fn each<T>(elements: &[T], code: &dyn Fn(&T) -> TokenStream) -> TokenStream {
    all(elements.len(), false, &|index| code(&elements[index]))
}

/// The same. The function also gets the index of the element.
pub(crate) fn each_at<T>(elements: &[T], code: &dyn Fn(usize, &T) -> TokenStream) -> TokenStream {
    all(elements.len(), false, &|index| {
        code(index, &elements[index])
    })
}

/// The elements themselves.
pub(crate) fn concat<T: ToTokens>(elements: &[T]) -> TokenStream {
    each(elements, &|element| element.to_token_stream())
}

/// `a, b, c,`, without the elements that have no tokens.
pub(crate) fn list<T>(elements: &[T], code: &dyn Fn(&T) -> TokenStream) -> TokenStream {
    all(elements.len(), true, &|index| code(&elements[index]))
}

/// The same. The function also gets the index of the element.
pub(crate) fn list_at<T>(elements: &[T], code: &dyn Fn(usize, &T) -> TokenStream) -> TokenStream {
    all(elements.len(), true, &|index| code(index, &elements[index]))
}

/// The tokens for each index below `count`, with a comma after each if `commas`.
fn all(count: usize, commas: bool, code: &dyn Fn(usize) -> TokenStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    for index in 0..count {
        let code = code(index);
        code.to_tokens(&mut tokens);
        if commas && !code.is_empty() {
            quote!(,).to_tokens(&mut tokens);
        }
    }
    tokens
}
