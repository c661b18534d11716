//! Names, paths and spans in generated code.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Lifetime, Path, Type};

use crate::dependency;
use crate::site::{self, quote};
use crate::spans::with_spans;

/// The path of the `petalflow` crate: the value of `crate = path`, or the name that the manifest gives to it.
pub(crate) struct Runtime {
    path: TokenStream,
    /// Whether the user or a `macro_rules!` wrapper gave the path.
    given: bool,
}

impl Runtime {
    /// The path that the user gave, or the default.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Runtime {
            path: match (path, dependency::renamed_crate()) {
                (Some(path), _) => path.to_token_stream(),
                (None, Some(name)) => quote!(::#name),
                (None, None) => quote!(::petalflow),
            },
            given: path.is_some(),
        }
    }

    /// The `$crate` of a `macro_rules!` wrapper.
    #[cfg(feature = "tool")]
    pub(crate) fn from_wrapper(path: TokenStream) -> Self {
        Runtime { path, given: true }
    }

    /// Gives generated tokens the span of the user's tokens `at`, so that rustc underlines those.
    pub(crate) fn respan(&self, at: &dyn ToTokens, tokens: TokenStream) -> TokenStream {
        let mut ends = None;
        for token in at.to_token_stream() {
            let (first, _) = ends.unwrap_or((token.span(), token.span()));
            ends = Some((first, token.span()));
        }
        let (first, last) = ends.unwrap_or((site::span(), site::span()));
        self.spread(first, last, tokens)
    }

    /// `<#ty as #of>::#item`, underlined as the type.
    pub(crate) fn item_of(&self, ty: &Type, of: &TokenStream, item: &str) -> TokenStream {
        let item = Ident::new(item, site::span());
        let open = self.respan(ty, quote!(<));
        let rest = self.respan(ty, quote!(as #of>::#item));
        quote!(#open #ty #rest)
    }

    /// Gives `<` the span `first` and all other tokens the span `last`. The span of a path that begins with `<` then covers both.
    fn spread(&self, first: Span, last: Span, tokens: TokenStream) -> TokenStream {
        with_spans(tokens, &|token| {
            let opens = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '<');
            let span = if opens { first } else { last };
            if self.given {
                token.span().located_at(span)
            } else {
                span
            }
        })
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}

/// `<>` directly after an identifier of the user, for a generated item that repeats types of the user's item.
///
/// For an unknown type, rustc suggests where to declare a type parameter. With `<>` it suggests the same position for both items,
/// so the two errors are equal and rustc reports one.
pub(crate) fn no_generics(after: &Ident) -> TokenStream {
    let span = if proc_macro::is_available() {
        after.span().unwrap().end().into()
    } else {
        after.span()
    };
    quote_spanned!(span=> <>)
}

/// The type with `'static` for each reference without a lifetime. `None` if there is none.
///
/// rustc reports the missing lifetime at the field. If a generated item repeated the type, rustc would report it again. Types of
/// functions may leave out lifetimes, so they stay unchanged.
pub(crate) fn with_lifetimes(ty: &Type) -> Option<TokenStream> {
    let tokens = ty.to_token_stream();
    let mut missing = false;
    if has_parameters(tokens.clone()) {
        return None;
    }
    let named = name_runtime(tokens, &mut missing);
    missing.then_some(named)
}

/// Whether the tokens have a list of parameters, as in `fn(&str)` and `dyn Fn(&str)`.
fn has_parameters(tokens: TokenStream) -> bool {
    let mut after_word = false;
    for token in tokens {
        if let TokenTree::Group(group) = &token
            && (after_word && group.delimiter() == Delimiter::Parenthesis
                || has_parameters(group.stream()))
        {
            return true;
        }
        after_word = matches!(token, TokenTree::Ident(_));
    }
    false
}

fn name_runtime(tokens: TokenStream, missing: &mut bool) -> TokenStream {
    let mut named_tokens = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(mut token) = tokens.next() {
        if let TokenTree::Group(group) = &token {
            let mut inner = Group::new(group.delimiter(), name_runtime(group.stream(), missing));
            inner.set_span(group.span());
            token = inner.into();
        }
        let opens = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '&');
        let span = token.span();
        named_tokens.append(token);
        let has_lifetime =
            matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'');
        if opens && !has_lifetime {
            *missing = true;
            Lifetime::new("'static", span).to_tokens(&mut named_tokens);
        }
    }
    named_tokens
}

/// The keyword of a generated item, at the name of the user. With the hygiene of the user, too: if an error shows the item, rustc
/// would otherwise add that the error originates in the macro.
pub(crate) fn keyword(keyword: &str, at: &Ident) -> Ident {
    Ident::new(keyword, at.span())
}

/// A generated implementation, whose keyword and braces are those of the user in the same way.
pub(crate) fn impl_at(at: Span, tokens: TokenStream) -> TokenStream {
    let mut tokens: Vec<_> = tokens.into_iter().collect();
    let is_impl =
        |token: &&mut TokenTree| matches!(token, TokenTree::Ident(word) if word == "impl");
    if let Some(keyword) = tokens.iter_mut().find(is_impl) {
        keyword.set_span(at);
    }
    if let Some(braces) = tokens.last_mut() {
        braces.set_span(at);
    }
    tokens.into_iter().collect()
}

/// The name of a generated item, at the name that it is made from. An editor finds the item there, but does not rename it,
/// because the two names differ.
pub(crate) fn derived(text: &str, from: &Ident) -> Ident {
    Ident::new(text, site::span().located_at(from.span()))
}

/// The text of an identifier without `r#`: the name of a key, a node or a route.
pub(crate) fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// `word_count` as the name of a type: `WordCount`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    let mut begins_word = true;
    for letter in name.chars() {
        if letter == '_' {
            begins_word = true;
        } else if begins_word {
            begins_word = false;
            for letter in letter.to_uppercase() {
                camel.push(letter);
            }
        } else {
            camel.push(letter);
        }
    }
    camel
}

/// `Option::Some` of the tokens, or `Option::None`.
pub(crate) fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

/// A local variable that code of the user cannot access. A pattern also names statics, constants and unit structs, which are not
/// hygienic, so the name is one that no item of the user has.
pub(crate) fn local(name: &str) -> Ident {
    format_ident!("__{name}", span = site::span())
}

/// The local variable, or the function in a `const _`, for an index.
pub(crate) fn local_at(name: &str, index: usize) -> Ident {
    format_ident!("__{name}{index}", span = site::span())
}

/// The number of a route: FNV-1a over its name. `#[derive(Route)]` and `flow!` use it to refer to the payload of a variant in the
/// type system.
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
