//! Parsers of all tokens of a stream. syn's own functions are compiled once per parser.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser as _};

/// Parses all tokens as one element.
pub(crate) fn parse_as<T: Parse>(tokens: TokenStream) -> syn::Result<T> {
    let mut parsed = None;
    parse_with(tokens, &mut |input| {
        parsed = Some(input.parse()?);
        Ok(())
    })?;
    Ok(parsed.expect("the parser ran"))
}

/// Parses tokens with this function, which must parse all of them.
pub(crate) fn parse_with(
    tokens: TokenStream,
    parser: &mut dyn FnMut(ParseStream) -> syn::Result<()>,
) -> syn::Result<()> {
    parser.parse2(tokens)
}
