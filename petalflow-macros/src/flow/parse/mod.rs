//! Parsing of `flow!`: statements, with recovery at each `;`.

mod chain;
mod closure;
mod declare;
mod flow_attr;
mod group;
mod interrupt;
mod misplaced;
mod mixed_operators;
mod node_ref;
mod recovery;
mod statement;
mod subflow;

use petalflow_graph::similar;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Token, Type, Visibility, braced, parenthesized, token};

pub(super) use self::flow_attr::stored_name;
use self::misplaced::{begins_condition, conditional, next_word, reject_attributes};
use self::recovery::{skip_to_semicolon, up_to_semicolon};
use self::statement::statement;
use super::ast::{FlowAst, Mistakes, Statement, Step};

impl Parse for FlowAst {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        // `peek` rejects keywords, such as `struct`.
        if !input.peek(Ident) {
            return Err(
                input.error("expected the flow's name and state: `WriteEssay(Essay) { .. }`")
            );
        }
        let name: Ident = input.parse()?;
        if name == "public" && input.peek(Ident) {
            let text = "a flow that other crates can name begins with `pub`";
            return Err(syn::Error::new(name.span(), text));
        }
        if !input.peek(token::Paren) {
            return Err(input.error(format_args!(
                "expected the state of `{name}` in parentheses: `{name}(State) {{ .. }}`"
            )));
        }
        let mut mistakes = Mistakes::default();
        let ty = state(input, &name, &mut mistakes)?;
        let statements = if input.peek(token::Brace) {
            let body;
            braced!(body in input);
            statements(&body, &ty, &mut mistakes)
        } else {
            mistakes.lose(input.error(format_args!(
                "expected the graph of `{name}` in braces: `{{ START -> .. }}`"
            )));
            input.parse::<TokenStream>()?;
            Vec::new()
        };
        if !input.is_empty() {
            mistakes
                .errors
                .push(input.error("a `flow!` holds one flow: remove what follows its braces"));
            input.parse::<TokenStream>()?;
        }
        Ok(FlowAst {
            attrs,
            vis,
            name,
            state: ty,
            statements,
            mistakes,
        })
    }
}

/// The state in its parentheses. Without it no flow is generated.
fn state(input: ParseStream, name: &Ident, mistakes: &mut Mistakes) -> syn::Result<Type> {
    let content;
    let parens = parenthesized!(content in input);
    let no_type = |at: Span| {
        let text = format_args!("expected the type that is the state of `{name}`: `{name}(State)`");
        syn::Error::new(at, text)
    };
    if content.is_empty() {
        return Err(no_type(parens.span.join()));
    }
    let state = content.parse().map_err(|error| no_type(error.span()))?;
    if !content.is_empty() {
        mistakes.errors.push(content.error("a flow has one state"));
        content.parse::<TokenStream>()?;
    }
    Ok(state)
}

/// All statements. A statement that cannot be parsed is reported and skipped.
fn statements(input: ParseStream, state: &Type, mistakes: &mut Mistakes) -> Vec<Statement> {
    let mut statements = Vec::new();
    while !input.is_empty() {
        if let Ok(Some(_)) = input.parse::<Option<Token![;]>>() {
            continue;
        }
        let begin = input.fork();
        let before = mistakes.errors.count();
        reject_attributes(input, &mut mistakes.errors);
        match statement(input, state, mistakes) {
            Ok(statement) => {
                if let Some(statement) = statement {
                    statements.push(statement);
                }
                // `chain` reports what follows a `match`.
                let ends_with_match = matches!(statements.last(), Some(Statement::Chain(chain)) if matches!(chain.steps.last(), Some(Step::Match { .. })));
                if !ends_with_match && !input.is_empty() && !input.peek(Token![;]) {
                    mistakes.lose(misspelt(&begin).unwrap_or_else(|| unexpected_token(input)));
                    skip_to_semicolon(input);
                }
            }
            Err(error) => {
                mistakes.lose(error);
                skip_to_semicolon(input);
            }
        }
        if mistakes.errors.count() > before {
            mistakes.lose_words(up_to_semicolon(&begin));
        }
    }
    statements
}

/// The error for a statement that begins with a word similar to a keyword, and another word.
fn misspelt(begin: ParseStream) -> Option<syn::Error> {
    let word = begin.call(Ident::parse_any).ok()?;
    let known = ["node", "with", "defer", "catch", "interrupt"];
    let keyword = similar(&word.to_string(), known.into_iter())?;
    let text = format_args!("there is no statement `{word}`; did you mean `{keyword}`?");
    begin
        .peek(Ident::peek_any)
        .then(|| syn::Error::new(word.span(), text))
}

/// The error for a token after a statement that seems complete.
fn unexpected_token(input: ParseStream) -> syn::Error {
    if begins_condition(input) {
        return conditional(input);
    }
    if input.peek(Token![=>]) {
        return input.error("an edge is written `->`; `=>` is for the arms of a `match`");
    }
    if input.peek(Token![,]) {
        return input
            .error("statements are separated by `;`; to lead to several nodes at once write `&`");
    }
    if next_word(input) == "each" {
        return input.error(
            "`each` is written before the node that runs once per item: `plan -> each research`",
        );
    }
    if input.peek(Token![.]) && !input.peek(Token![..]) {
        return input.error("a node has no methods here: write its options in a statement, `with write { retry: 3, timeout: 30s };`");
    }
    if input.peek(Token![!]) {
        return input.error("`flow!` does not expand macros inside: write the statements here, or let the macro write the whole `flow!`");
    }
    if input.peek(Token![<-]) {
        return input.error("an edge is written from left to right: `START -> write`");
    }
    if input.peek(Token![-]) || input.peek(Token![=]) {
        return input.error("an edge is written `->`");
    }
    if next_word(input) == "catch" {
        return input
            .error("a failure is caught in a statement of its own: `catch write -> recover;`");
    }
    if input.peek(Ident::peek_any) {
        return input
            .error("expected `;` between two statements, or `->`, `&` or `|` between two nodes");
    }
    input.error("expected `->`, `&`, `|` or `;`")
}
