//! Reading `flow!`: statements, with recovery at each `;`.

mod closure;
mod group;
mod interrupt;
mod mixed_operators;
mod subflow;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{
    AngleBracketedGenericArguments, Attribute, Expr, Ident, Path, PathArguments, Token, Type,
    Visibility, braced, parenthesized, token,
};

use self::group::{arms, group, skip_to_comma};
use self::interrupt::interrupt;
use self::subflow::subflow;
use super::ast::{
    Catch, Chain, Declare, Declared, FlowAst, Mistakes, NodeRef, NodeValue, Statement, Step, With,
};

use self::mixed_operators::Position;

/// The keywords that begin a statement when a name follows.
pub(super) mod kw {
    syn::custom_keyword!(node);
    syn::custom_keyword!(with);
    syn::custom_keyword!(defer);
    syn::custom_keyword!(catch);
    syn::custom_keyword!(interrupt);
    syn::custom_keyword!(each);
}

impl Parse for FlowAst {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        // A keyword, such as `struct`, is no name.
        if !input.peek(Ident) {
            return Err(
                input.error("expected the flow's name and state: `WriteEssay(Essay) { .. }`")
            );
        }
        let name: Ident = input.parse()?;
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

/// The state in its parentheses. Without it there is no flow.
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

fn statements(input: ParseStream, state: &Type, mistakes: &mut Mistakes) -> Vec<Statement> {
    let mut statements = Vec::new();
    while !input.is_empty() {
        if input
            .parse::<Option<Token![;]>>()
            .is_ok_and(|found| found.is_some())
        {
            continue;
        }
        let (begin, before) = (input.fork(), mistakes.errors.count());
        match statement(input, state, mistakes) {
            Ok(statement) => {
                statements.extend(statement);
                let complete = matches!(statements.last(), Some(Statement::Chain(chain)) if matches!(chain.steps.last(), Some(Step::Match { .. })));
                if !complete && !input.is_empty() && !input.peek(Token![;]) {
                    mistakes.lose(unexpected(input));
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

/// The tokens of a statement.
fn up_to_semicolon(input: ParseStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![;]) {
        tokens.extend(input.parse::<TokenTree>());
    }
    tokens
}

/// What to say of a token after a statement that seems complete.
fn unexpected(input: ParseStream) -> syn::Error {
    if input.peek(Token![=>]) {
        return input.error("an edge is written `->`; `=>` is for the arms of a `match`");
    }
    if input.peek(Token![,]) {
        return input
            .error("statements are separated by `;`; to lead to several nodes at once write `&`");
    }
    if input.peek(Token![-]) || input.peek(Token![=]) {
        return input.error("an edge is written `->`");
    }
    if input.peek(Ident::peek_any) {
        return input
            .error("expected `;` between two statements, or `->`, `&` or `|` between two nodes");
    }
    input.error("expected `->`, `&`, `|` or `;`")
}

pub(super) fn skip_to_semicolon(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![;]) {
        let _ = input.parse::<TokenTree>();
    }
}

fn statement(
    input: ParseStream,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Option<Statement>> {
    // A node may be called `node` or `with`: only with a name behind it is it a keyword.
    if !input.peek2(Ident::peek_any) {
        return chain(input, mistakes).map(Some);
    }
    if input.peek(kw::node) {
        input.parse::<kw::node>()?;
        return declare(input, state, mistakes).map(|declared| Some(Statement::Declare(declared)));
    }
    if input.peek(kw::with) {
        input.parse::<kw::with>()?;
        return with(input, mistakes).map(|with| Some(Statement::With(with)));
    }
    if input.peek(kw::defer) {
        input.parse::<kw::defer>()?;
        return node_ref(input).map(|node| Some(Statement::Defer(node)));
    }
    if input.peek(kw::catch) {
        input.parse::<kw::catch>()?;
        let from = node_ref(input)?;
        if input.peek(Token![&]) || input.peek(Token![|]) || input.peek(Token![,]) {
            return Err(input.error(format_args!(
                "a `catch` names one node: write a statement for each, `catch {} -> ..; catch ..`",
                from.key()
            )));
        }
        if !input.peek(Token![->]) {
            return Err(input.error(format_args!(
                "`catch` needs the node that a failure leads to: `catch {from} -> recover`",
                from = from.key()
            )));
        }
        input.parse::<Token![->]>()?;
        let to = node_ref(input)?;
        if input.peek(Token![->]) {
            let to = to.key();
            mistakes.lose(input.error(format_args!("a `catch` ends at its target: write what follows `{to}` as a separate statement, `{to} -> ..`")));
            skip_to_semicolon(input);
        }
        return Ok(Some(Statement::Catch(Catch { from, to })));
    }
    if input.peek(kw::interrupt) {
        input.parse::<kw::interrupt>()?;
        let interrupt = interrupt(input, state, mistakes).unwrap_or_else(|error| {
            // Nothing of the graph is lost with it.
            mistakes.errors.push(error);
            skip_to_semicolon(input);
            None
        });
        return Ok(interrupt.map(Statement::Interrupt));
    }
    chain(input, mistakes).map(Some)
}

fn chain(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Statement> {
    let mut chain = Chain {
        first: group(input, Position::Source, mistakes)?,
        steps: Vec::new(),
    };
    while input.peek(Token![->]) {
        input.parse::<Token![->]>()?;
        match step(input, mistakes) {
            Ok(step) => chain.steps.push(step),
            // What was read stays: half a chain is better than none.
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

/// A chain ends at `match`.
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
        // What follows is read as if the `;` were there.
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

/// A path that names a node.
pub(super) fn node_ref(input: ParseStream) -> syn::Result<NodeRef> {
    if !input.peek(Token![::])
        && !input.peek(Ident)
        && !input.peek(Token![crate])
        && !input.peek(Token![self])
        && !input.peek(Token![super])
    {
        return Err(expected_node(input));
    }
    let begin = input.fork();
    let node = Path::parse_mod_style(input).map(NodeRef);
    if (node.is_err() || input.peek(Token![<]))
        && let Some(arguments) = generic_arguments(&begin)
    {
        return Err(syn::Error::new_spanned(
            arguments,
            "a node has no generic arguments; a node value has: `node name: Type<..> = value;`",
        ));
    }
    let node = node?;
    if input.peek(token::Paren) {
        return Err(input.error(format_args!(
            "a node is named here, not called: write `{}`",
            node.key()
        )));
    }
    Ok(node)
}

/// `<A, B>` behind one of the names of a path.
fn generic_arguments(input: ParseStream) -> Option<AngleBracketedGenericArguments> {
    let path: Path = input.parse().ok()?;
    let mut arguments = path.segments.into_iter().map(|segment| segment.arguments);
    arguments.find_map(|arguments| match arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments),
        _ => None,
    })
}

fn expected_node(input: ParseStream) -> syn::Error {
    if input.peek(syn::Lit) {
        return input.error("expected a node; it is named without quotes");
    }
    if input.peek(Ident::peek_any) {
        let word = input
            .fork()
            .call(Ident::parse_any)
            .map(|word| word.to_string())
            .unwrap_or_default();
        return input.error(format_args!(
            "`{word}` is a keyword: a node of this name is written `r#{word}`"
        ));
    }
    if input.peek(Token![;]) || input.is_empty() {
        return input.error("expected a node, `START` or `END`");
    }
    input.error("expected a node, such as `write` or `nodes::write`, or `START` or `END`")
}

/// What follows `node`.
fn declare(input: ParseStream, state: &Type, mistakes: &mut Mistakes) -> syn::Result<Declare> {
    let name: Ident = input.parse()?;
    if name == "START" || name == "END" {
        mistakes.lose(syn::Error::new(
            name.span(),
            format_args!(
                "`{name}` is where a flow {}: a node needs another name",
                if name == "END" { "ends" } else { "begins" }
            ),
        ));
    }
    let what = match declared(input, &name, state, mistakes) {
        Ok(what) => what,
        Err(error) => {
            mistakes.lose(error);
            skip_to_semicolon(input);
            Declared::Broken
        }
    };
    Ok(Declare { name, what })
}

fn declared(
    input: ParseStream,
    name: &Ident,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Declared> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if !input.peek(Ident) && !input.peek(Ident::peek_any) && !input.peek(Token![::]) {
            return Err(input.error(
                "expected the node that gets a second name, such as `node polish = write;`",
            ));
        }
        let path = node_ref(input).map_err(|error| {
            let hint = format!("expected a node: `node {name} = write;` gives it a second name, `node {name}: Type = value;` declares a value");
            if input.peek(token::Paren) || input.peek(Token![::]) || input.peek(Token![<]) { syn::Error::new(error.span(), hint) } else { error }
        })?;
        return Ok(Declared::Alias(path.0));
    }
    if !input.peek(Token![:]) {
        return Err(input.error(format_args!("expected `node {name} = other;` (a second name), `node {name}: Type = value;` (a node value) or `node {name}: Flow {{ in: .., out: .. }};` (a sub-flow)")));
    }
    input.parse::<Token![:]>()?;
    let ty: Type = input.parse()?;
    if input.peek(token::Brace) {
        return Ok(subflow(input, name, ty, state, mistakes)?
            .map_or(Declared::Broken, |subflow| {
                Declared::Subflow(Box::new(subflow))
            }));
    }
    let default = if input.parse::<Option<Token![=]>>()?.is_some() {
        Some(input.parse()?)
    } else {
        None
    };
    Ok(Declared::Value(Box::new(NodeValue { ty, default })))
}

/// What follows `with`.
fn with(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<With> {
    let node = node_ref(input)?;
    if !input.peek(token::Brace) {
        return Err(input.error(format_args!(
            "expected the options: `with {} {{ retry: 3, timeout: 30s }}`",
            node.key()
        )));
    }
    let content;
    braced!(content in input);
    let mut options = Vec::new();
    while !content.is_empty() {
        match option(&content) {
            Ok(option) => options.push(option),
            Err(error) => {
                // Policies do not change the graph.
                mistakes.errors.push(error);
                skip_to_comma(&content);
            }
        }
        if content.is_empty() {
            break;
        }
        if let Err(error) = content.parse::<Token![,]>() {
            mistakes.errors.push(error);
            skip_to_comma(&content);
        }
    }
    Ok(With { node, options })
}

fn option(input: ParseStream) -> syn::Result<(Ident, Expr)> {
    let name = Ident::parse_any(input)?;
    if input.peek(Token![=]) {
        return Err(input.error(format_args!("an option is written `{name}: ..`")));
    }
    if !input.peek(Token![:]) {
        return Err(input.error(format_args!("expected a value: `{name}: ..`")));
    }
    input.parse::<Token![:]>()?;
    Ok((name, input.parse()?))
}
