//! `#[state]`: makes a typed key of each field of a struct.

mod ast;
mod check;
mod expand;
mod model;
mod nil;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

use self::ast::{StateArgs, StateAst};
use self::model::State;
use crate::errors::Errors;
use crate::paths::{self, Runtime};
use crate::spans::with_spans;
use crate::template::template;
use crate::twice::{self, What};

/// Expands `#[state(args)] item`.
pub(crate) fn expand(args: &TokenStream, item: &TokenStream) -> TokenStream {
    expand_unless(args, item, |name| twice::is_second(What::State, name))
}

/// Expands the item, and generates nothing for a name that `is_second`.
fn expand_unless(
    args: &TokenStream,
    item: &TokenStream,
    is_second: fn(&Ident) -> bool,
) -> TokenStream {
    let mut errors = Errors::default();
    let parsed = StateArgs::parse(args.clone(), &mut errors);
    if ast::has_cfg(item) {
        // rustc evaluates `#[cfg]` on fields before it expands a derive, but not before it expands an attribute.
        let runtime = Runtime::new(parsed.krate.as_ref());
        return template! { [runtime, args, item]
            #[derive(#runtime::__private::StateAfterCfg)]
            #[__petalflow_state(#args)]
            #item
        };
    }
    expand_parsed(&parsed, item, errors, Some(is_second))
}

/// Expands the same for rust-analyzer, which does not rename the generated types: their names have another text.
pub(crate) fn in_editor(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut words = Vec::new();
    collect_words(item.clone(), &mut words);
    derived_names(expand_unless(args, item, |_| false), &words)
}

/// Adds the identifiers of the user.
fn collect_words(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => words.push(word.to_string()),
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The tokens, with the hygiene of the macro for each identifier that is not one of these.
fn derived_names(tokens: TokenStream, words: &[String]) -> TokenStream {
    with_spans(tokens, &|token| match token {
        TokenTree::Ident(word) if !words.contains(&word.to_string()) => {
            Span::call_site().located_at(word.span())
        }
        _ => token.span(),
    })
}

/// Expands the derive that replaces the attribute if a field has `#[cfg]`.
pub(crate) fn expand_after_cfg(item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = StateArgs::parse(ast::args_of(item), &mut errors);
    expand_parsed(&args, item, errors, None)
}

/// `is_second`: whether an earlier state has this name. A derive has `None`: it cannot emit the item itself.
fn expand_parsed(
    args: &StateArgs,
    item: &TokenStream,
    mut errors: Errors,
    is_second: Option<fn(&Ident) -> bool>,
) -> TokenStream {
    let ast = match StateAst::parse(item.clone(), &mut errors) {
        Ok(ast) => ast,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    if is_second.is_some_and(|is_second| is_second(&ast.item.ident)) {
        let item = &ast.item;
        return quote!(#item);
    }
    let state = State::build(&ast, args, &mut errors);
    if is_second.is_some() {
        for key in &state.keys {
            let what = What::Key {
                key: key.name.clone(),
                state: paths::name(&state.ident),
            };
            twice::made(&key.newtype, what, &state.ident);
        }
    }
    let cx = check::Cx {
        args,
        ast: &ast,
        state: &state,
    };
    check::all(&cx, &mut errors);
    let runtime = Runtime::new(args.krate.as_ref());
    // The keys of a generic state would be types with unknown parameters.
    let code = (!ast.is_generic()).then(|| expand::state(&state, &runtime));
    let item = is_second.is_some().then_some(&ast.item);
    let errors = errors.into_tokens();
    quote!(#item #code #errors)
}
