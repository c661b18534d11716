//! `quote!` that compiles to less: the tokens are one text, which is parsed when the macro runs.
//!
//! [`quote::quote!`] compiles to a call for each token. This crate is compiled without optimization for every program that uses
//! it, so these calls are a large part of the time. Parsing takes longer when the macro runs. So use [`quote::quote!`] for what is
//! generated for each node, because a program can have many.

use proc_macro2::{Group, Span, TokenStream, TokenTree, token_stream};
use quote::ToTokens;

/// As [`quote::quote!`].
macro_rules! quote {
    ($($token:tt)*) => {{
        #[allow(unused_mut, reason = "some templates have no arguments")]
        let mut arguments = $crate::template::Arguments::default();
        $crate::template::arguments! { arguments $($token)* }
        arguments.fill(::core::stringify!($($token)*))
    }};
}

/// As [`quote::quote_spanned!`].
macro_rules! quote_spanned {
    ($span:expr=> $($token:tt)*) => {{
        let span: ::proc_macro2::Span = $span;
        #[allow(unused_mut, reason = "some templates have no arguments")]
        let mut arguments = $crate::template::Arguments::at(span);
        $crate::template::arguments! { arguments $($token)* }
        arguments.fill(::core::stringify!($($token)*))
    }};
}

/// Adds the arguments in the tokens, in their order. Each token is matched together with the one before and the two after it.
macro_rules! arguments {
    ($to:ident $($token:tt)*) => {
        $crate::template::each! { $to (@ @ @ $($token)*) (@ @ $($token)* @) (@ $($token)* @ @) ($($token)* @ @ @) }
    };
}

macro_rules! each {
    ($to:ident ($($before:tt)*) ($($token:tt)*) ($($next:tt)*) ($($after:tt)*)) => {
        $($crate::template::argument! { $to $before $token $next $after })*
    };
}

macro_rules! argument {
    ($to:ident # $name:ident $next:tt $after:tt) => {
        $to.add(&$name);
    };
    ($to:ident # ($($token:tt)*) * $after:tt) => {
        $to.add(&::quote::quote!(#($($token)*)*));
    };
    ($to:ident # ($($token:tt)*) $separator:tt *) => {
        $to.add(&::quote::quote!(#($($token)*) $separator *));
    };
    ($to:ident $before:tt ($($token:tt)*) $next:tt $after:tt) => {
        $crate::template::arguments! { $to $($token)* }
    };
    ($to:ident $before:tt [$($token:tt)*] $next:tt $after:tt) => {
        $crate::template::arguments! { $to $($token)* }
    };
    ($to:ident $before:tt {$($token:tt)*} $next:tt $after:tt) => {
        $crate::template::arguments! { $to $($token)* }
    };
    ($($other:tt)*) => {};
}

pub(crate) use {argument, arguments, each, quote, quote_spanned};

/// The tokens of all. `collect` compiles to ten times as much.
pub(crate) fn joined<T: ToTokens>(parts: impl Iterator<Item = T>) -> TokenStream {
    let mut all = TokenStream::new();
    for part in parts {
        part.to_tokens(&mut all);
    }
    all
}

/// What the places of a template stand for, in their order.
#[derive(Default)]
pub(crate) struct Arguments {
    tokens: Vec<TokenStream>,
    span: Option<Span>,
}

impl Arguments {
    /// Of a template whose own tokens have this span.
    pub(crate) fn at(span: Span) -> Self {
        Arguments {
            tokens: Vec::new(),
            span: Some(span),
        }
    }

    pub(crate) fn add(&mut self, argument: &dyn ToTokens) {
        let mut tokens = TokenStream::new();
        argument.to_tokens(&mut tokens);
        self.tokens.push(tokens);
    }

    /// The template with its arguments.
    #[expect(
        clippy::expect_used,
        reason = "the compiler has split the same text into tokens"
    )]
    pub(crate) fn fill(self, template: &str) -> TokenStream {
        let template: TokenStream = template.parse().expect("the template has tokens");
        Filled {
            arguments: self.tokens.into_iter(),
            span: self.span,
        }
        .fill(template.into_iter())
    }
}

struct Filled {
    arguments: std::vec::IntoIter<TokenStream>,
    span: Option<Span>,
}

impl Filled {
    fn fill(&mut self, mut template: token_stream::IntoIter) -> TokenStream {
        let mut filled = Vec::new();
        while let Some(tree) = template.next() {
            match tree {
                TokenTree::Group(group) => filled.push(self.group(&group).into()),
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    match template.next() {
                        Some(TokenTree::Ident(_)) => {
                            filled.extend(self.arguments.next().unwrap_or_default())
                        }
                        // A repetition: after it are its separator and `*`.
                        Some(TokenTree::Group(group))
                            if group.delimiter() == proc_macro2::Delimiter::Parenthesis =>
                        {
                            template.by_ref().find(|tree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == '*'));
                            filled.extend(self.arguments.next().unwrap_or_default());
                        }
                        // An attribute.
                        Some(TokenTree::Group(group)) => {
                            filled.push(self.own(mark.into()));
                            filled.push(self.group(&group).into());
                        }
                        other => {
                            filled.push(self.own(mark.into()));
                            filled.extend(other);
                        }
                    }
                }
                other => filled.push(self.own(other)),
            }
        }
        filled.into_iter().collect()
    }

    fn group(&mut self, group: &Group) -> Group {
        let mut filled = Group::new(group.delimiter(), self.fill(group.stream().into_iter()));
        if let Some(span) = self.span {
            filled.set_span(span);
        }
        filled
    }

    /// A token of the template itself.
    fn own(&self, mut tree: TokenTree) -> TokenTree {
        if let Some(span) = self.span {
            tree.set_span(span);
        }
        tree
    }
}
