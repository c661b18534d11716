//! Templates of generated code.
//!
//! [`template!`] makes the same tokens as `quote!`. `quote!` compiles to a call for each token, and each program that uses the macros
//! compiles these calls without optimization: a quarter of the instructions that rustc needed for this crate. A template is a string
//! constant, which rustc parses when a macro is called (record 0072). Code of several lines is a template. A line, or a list with
//! `#(..)*`, is written with `quote!`.

use std::error::Error;

use proc_macro2::{Group, Ident, Punct, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _};

/// `template!([ty, value] <#ty>::new(#value))`: the tokens with the values of the variables in the list in place of `#ty` and
/// `#value`. `template!(span=> [ty] ..)` gives the other tokens this span, as `quote_spanned!` does.
macro_rules! template {
    ([$($variable:ident),*] $($code:tt)*) => {
        $crate::template::expand(None, stringify!($($code)*), &[$((stringify!($variable), &$variable)),*])
    };
    ($span:expr=> [$($variable:ident),*] $($code:tt)*) => {
        $crate::template::expand(Some($span), stringify!($($code)*), &[$((stringify!($variable), &$variable)),*])
    };
}

pub(crate) use template;

/// The name of a variable, and its value.
pub(crate) type Variable<'a> = (&'static str, &'a dyn ToTokens);

/// The tokens of a template. Those of the template itself have this span, or that of the macro call.
pub(crate) fn expand(
    span: Option<Span>,
    code: &'static str,
    variables: &[Variable<'_>],
) -> TokenStream {
    let code = parsed(code).expect("rustc has read the template as tokens before");
    let mut tokens = TokenStream::new();
    replace(code, span, variables, &mut tokens);
    tokens
}

/// In a macro call, rustc parses the text. The function of `proc_macro2` would parse it twice: rustc aborts on text that is not
/// Rust, so `proc_macro2` checks the text first.
fn parsed(code: &str) -> Result<TokenStream, Box<dyn Error>> {
    if proc_macro::is_available() {
        Ok(code.parse::<proc_macro::TokenStream>()?.into())
    } else {
        Ok(code.parse()?)
    }
}

/// Adds the code to `tokens`, with the values of the variables.
fn replace(
    code: TokenStream,
    span: Option<Span>,
    variables: &[Variable<'_>],
    tokens: &mut TokenStream,
) {
    // A `#`, until the next token says whether a variable or an attribute follows.
    let mut hash: Option<Punct> = None;
    for mut token in code {
        if let Some(span) = span {
            token.set_span(span);
        }
        if let Some(hash) = hash.take() {
            if let TokenTree::Ident(name) = &token {
                value(name, variables).to_tokens(tokens);
                continue;
            }
            tokens.append(hash);
        }
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => hash = Some(punct),
            TokenTree::Group(group) => {
                let mut inner = TokenStream::new();
                replace(group.stream(), span, variables, &mut inner);
                let mut replaced = Group::new(group.delimiter(), inner);
                replaced.set_span(group.span());
                tokens.append(replaced);
            }
            token => tokens.append(token),
        }
    }
}

/// The value of the variable of this name.
fn value<'a>(name: &Ident, variables: &[Variable<'a>]) -> &'a dyn ToTokens {
    // Once, because a comparison with an `Ident` makes a text each time.
    let name = name.to_string();
    for &(variable, value) in variables {
        if name == variable {
            return value;
        }
    }
    unreachable!("a template has `#{name}`, which is not in its list")
}
