//! `#[state]`: makes a typed key of each field of a struct.

mod ast;
mod check;
mod expand;
mod model;
mod nil;

use proc_macro2::{Span, TokenStream, TokenTree};

use self::ast::{StateArgs, StateAst};
use self::model::State;
use crate::editor;
use crate::errors::Errors;
use crate::paths::Runtime;
use crate::site::quote;
use crate::spans::with_spans;

/// Expands `#[state(args)] item`.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parsed = StateArgs::parse(args.clone(), &mut errors);
    if ast::has_cfg(&item) {
        // rustc evaluates `#[cfg]` on fields before it expands a derive, but not before it expands an attribute.
        let runtime = Runtime::new(parsed.krate.as_ref());
        return quote! {
            #[derive(#runtime::__private::StateAfterCfg)]
            #[__petalflow_state(#args)]
            #item
        };
    }
    expand_parsed(&parsed, item, errors, Emit::ItemAndCode)
}

/// Expands the same for rust-analyzer, which does not rename the generated types: their names have another text.
pub(crate) fn in_editor(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut words = Vec::new();
    collect_words(item.clone(), &mut words);
    let parsed = StateArgs::parse(args.clone(), &mut Errors::default());
    let runtime = Runtime::new(parsed.krate.as_ref());
    let options = ast::key_arguments(&item).into_iter();
    let options = options.map(|arguments| editor::options(&runtime, "KeyOptions", arguments));
    let names = quote! {
        #[allow(warnings)]
        const _: () = { #(#options)* };
    };
    let code = derived_names(expand(args, item), &words);
    // First, because errors about a name that is completed have the name too.
    quote!(#names #code)
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
pub(crate) fn expand_after_cfg(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = StateArgs::parse(ast::args_of(&item), &mut errors);
    expand_parsed(&args, item, errors, Emit::Code)
}

/// What an expansion consists of.
#[derive(PartialEq)]
enum Emit {
    ItemAndCode,
    /// A derive cannot emit the item itself.
    Code,
}

fn expand_parsed(
    args: &StateArgs,
    item: TokenStream,
    mut errors: Errors,
    emit: Emit,
) -> TokenStream {
    let ast = match StateAst::parse(item.clone(), &mut errors) {
        Ok(ast) => ast,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let state = State::build(&ast, args, &mut errors);
    let cx = check::Cx {
        args,
        ast: &ast,
        state: &state,
    };
    check::all(&cx, &mut errors);
    let runtime = Runtime::new(args.krate.as_ref());
    let errors = errors.into_tokens();
    // The keys of a generic state would be types with unknown parameters.
    let code = (!ast.is_generic()).then(|| expand::state(&state, &runtime));
    let item = (emit == Emit::ItemAndCode).then_some(&ast.item);
    quote!(#item #code #errors)
}
