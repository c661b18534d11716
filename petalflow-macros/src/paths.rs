//! Names, paths and places in generated code.

use std::fmt::Write as _;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Lifetime, Path, Type};

/// The path of the `petalflow` crate: `::petalflow`, or what `crate = path` says.
pub(crate) struct Runtime {
    path: TokenStream,
    given: bool,
}

impl Runtime {
    /// The path that the user gave, else the default.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Runtime {
            path: path.map_or_else(|| quote!(::petalflow), ToTokens::into_token_stream),
            given: path.is_some(),
        }
    }

    /// `$crate`, as a `macro_rules!` wrapper passes it on.
    #[cfg(feature = "tool")]
    pub(crate) fn passed(path: TokenStream) -> Self {
        Runtime { path, given: true }
    }

    /// Generated tokens that rustc is to underline as the user's tokens `at`, from the first to the last.
    pub(crate) fn spot(&self, at: &impl ToTokens, tokens: TokenStream) -> TokenStream {
        let mut all = at.to_token_stream().into_iter().map(|token| token.span());
        let first = all.next().unwrap_or_else(Span::call_site);
        let last = all.last().unwrap_or(first);
        self.spread(first, last, tokens)
    }

    /// A path begins with `<`, so this is what makes its span reach from the first token to the last.
    fn spread(&self, first: Span, last: Span, tokens: TokenStream) -> TokenStream {
        let at = |token: &TokenTree, span: Span| {
            if self.given {
                token.span().located_at(span)
            } else {
                span
            }
        };
        let spread = tokens.into_iter().map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut inner =
                    Group::new(group.delimiter(), self.spread(first, last, group.stream()));
                inner.set_span(at(&token, last));
                return TokenTree::Group(inner);
            }
            let opens = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '<');
            let span = at(&token, if opens { first } else { last });
            token.set_span(span);
            token
        });
        spread.collect()
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}

/// `<>` right after an identifier of the user's, for an item that repeats types of the user's item.
///
/// Of a type that does not exist rustc says, among other things, where a type parameter might be missing. Two errors that
/// differ in this are two errors; with this they are the same one.
pub(crate) fn no_generics(after: &Ident) -> TokenStream {
    let span = if proc_macro::is_available() {
        after.span().unwrap().end().into()
    } else {
        after.span()
    };
    quote_spanned!(span=> <>)
}

/// A type with `'static` where its references leave their lifetimes out, if any does. Of such a field rustc says that the
/// lifetime is missing; where the type stands as another item's, leaving it out is another mistake. Functions, in whose types
/// lifetimes may be left out, stay as they are.
pub(crate) fn with_lifetimes(ty: &Type) -> Option<TokenStream> {
    let (tokens, mut missing) = (ty.to_token_stream(), false);
    if has_parameters(tokens.clone()) {
        return None;
    }
    let named = named(tokens, &mut missing);
    missing.then_some(named)
}

/// Whether something is `f(..)`, as in `fn(&str)` and `dyn Fn(&str)`.
fn has_parameters(tokens: TokenStream) -> bool {
    let mut after_word = false;
    tokens.into_iter().any(|token| {
        let found = match &token {
            TokenTree::Group(group) => {
                (after_word && group.delimiter() == Delimiter::Parenthesis)
                    || has_parameters(group.stream())
            }
            _ => false,
        };
        after_word = matches!(token, TokenTree::Ident(_));
        found
    })
}

fn named(tokens: TokenStream, missing: &mut bool) -> TokenStream {
    let mut named_tokens = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(mut token) = tokens.next() {
        if let TokenTree::Group(group) = &token {
            let mut inner = Group::new(group.delimiter(), named(group.stream(), missing));
            inner.set_span(group.span());
            token = inner.into();
        }
        let opens = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '&');
        let span = token.span();
        named_tokens.extend([token]);
        let has_lifetime =
            matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'');
        if opens && !has_lifetime {
            *missing = true;
            Lifetime::new("'static", span).to_tokens(&mut named_tokens);
        }
    }
    named_tokens
}

/// A name that nothing else has, also where two things of the user's have one name: then each is what its own code means, and
/// that the name is taken is all that rustc has to say.
pub(crate) fn unique_name(ident: &Ident) -> Ident {
    let mut text = format!("__petalflow_{}", name(ident));
    if proc_macro::is_available() {
        let span = ident.span().unwrap();
        write!(text, "_{}_{}", span.line(), span.column()).expect("text can be written to");
        // What a macro wrote stands in one place however often the macro is called: the number of the call is in the `#3` of
        // `#3 bytes(7..9)`, and what the user wrote has `#0`. Were it not, names would only be less their own.
        let debug = format!("{span:?}");
        let call = debug
            .strip_prefix('#')
            .and_then(|rest| rest.split(' ').next());
        if let Some(call) = call
            .and_then(|call| call.parse::<u32>().ok())
            .filter(|call| *call > 0)
        {
            write!(text, "_{call}").expect("text can be written to");
        }
    }
    Ident::new(&text, Span::call_site())
}

/// An identifier's text without `r#`: the name of a key, a node or a route.
pub(crate) fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// `word_count` as the name of a type: `WordCount`.
pub(crate) fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(letters).collect()
            })
        })
        .collect()
}

/// `Option::Some` of the tokens, or `Option::None`.
pub(crate) fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(
        || quote!(::core::option::Option::None),
        |value| quote!(::core::option::Option::Some(#value)),
    )
}

/// A local variable that user code cannot see.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The local variable for an index in a list.
pub(crate) fn local_at(name: &str, index: usize) -> Ident {
    format_ident!("{name}{index}", span = Span::mixed_site())
}

/// The number by which a variant's payload is looked up in the type system: FNV-1a over the variant's name, the same in
/// `#[derive(Route)]` and `flow!`.
pub(crate) const fn route_hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash ^= bytes[i] as u64;
        hash = u64::wrapping_mul(hash, 0x0100_0000_01b3);
        i += 1;
    }
    hash
}
