//! Parsing of a chain: `a -> b & c -> match { .. }`.

use syn::parse::ParseStream;
use syn::{Token, token};

use super::group::{arms, group};
use super::mixed_operators::Position;
use super::recovery::skip_to_semicolon;
use crate::flow::ast::{Chain, Mistakes, Statement, Step};

/// A chain: groups and a final `match`, separated by arrows.
pub(super) fn chain(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Statement> {
    let mut chain = Chain {
        first: group(input, Position::Source, mistakes)?,
        steps: Vec::new(),
    };
    while input.peek(Token![->]) {
        input.parse::<Token![->]>()?;
        match step(input, mistakes) {
            Ok(step) => chain.steps.push(step),
            // The steps before the mistake are kept.
            Err(error) => {
                mistakes.lose(error);
                skip_to_semicolon(input);
                break;
            }
        }
        if matches!(chain.steps.last(), Some(Step::Match { .. })) {
            after_match(input, mistakes);
            break;
        }
    }
    Ok(Statement::Chain(chain))
}

/// Reports what follows the arms of a `match`, which ends its chain.
fn after_match(input: ParseStream, mistakes: &mut Mistakes) {
    if input.is_empty() || input.peek(Token![;]) {
        return;
    }
    if input.peek(Token![->]) {
        mistakes.lose(input.error(
            "a chain ends at `match`: write what follows the targets as separate statements",
        ));
        skip_to_semicolon(input);
    } else {
        // The rest is parsed as the next statement.
        mistakes
            .errors
            .push(input.error("expected `;` after the arms of a `match`"));
    }
}

fn step(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Step> {
    if !input.peek(Token![match]) {
        return group(input, Position::Target, mistakes).map(Step::Group);
    }
    let keyword = input.parse()?;
    if !input.peek(token::Brace) {
        return Err(input.error("expected the arms: `match { Revise => write, Publish => END }`"));
    }
    Ok(Step::Match {
        keyword,
        arms: arms(input, mistakes)?,
    })
}
