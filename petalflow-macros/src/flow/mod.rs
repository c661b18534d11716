//! `flow!`: reads a graph, checks it, and writes the type that runs it.

mod ast;
mod check;
mod expand;
mod lower;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use petalflow_graph::Analysis;
use proc_macro2::TokenStream;
use syn::bracketed;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};

use ast::FlowAst;

use crate::errors::Errors;
use crate::types;

/// What the `macro_rules!` wrapper passes on: `[$crate] tokens of the user`.
struct Input {
    krate: TokenStream,
    flow: FlowAst,
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let krate;
        bracketed!(krate in input);
        Ok(Input {
            krate: krate.parse()?,
            flow: input.parse()?,
        })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut read = None;
    let parse = |input: ParseStream| {
        read = Some(input.parse::<Input>()?);
        Ok(())
    };
    // Tokens that are left in a broken group are not a second mistake.
    let rest = parse.parse2(input).err();
    let Some(Input { krate, mut flow }) = read else {
        let mut errors = Errors::default();
        rest.into_iter().for_each(|error| errors.push(error));
        return errors.into_tokens();
    };
    if let Some(rest) = rest
        && flow.mistakes.errors.is_empty()
    {
        flow.mistakes.lose(rest);
    }
    let FlowAst {
        mut attrs,
        vis,
        name,
        state,
        statements,
        mut mistakes,
    } = flow;
    if types::last_segment(&state).is_some_and(|last| last.ident.unraw() == name.unraw()) {
        let text = types::named_like_the_state("flow", &name);
        mistakes.errors.at(&name, text);
        // The state is used instead of the flow, because the two types cannot have one name.
        return mistakes.errors.into_tokens();
    }
    let stored = parse::stored_name(&mut attrs, &mut mistakes.errors);
    let model = lower::lower(statements, &mut mistakes);
    let graph = model.graph();
    let analysis = Analysis::of(&graph);
    let checked = check::Cx {
        name: &name,
        model: &model,
        graph: &graph,
        analysis: &analysis,
    };
    check::all(&checked, &mut mistakes);
    let lost = mistakes.lost;
    let cx = expand::Cx {
        krate: &krate,
        attrs: &attrs,
        vis: &vis,
        name: &name,
        stored: stored.as_ref(),
        state: &state,
        model: &model,
        graph: &graph,
        analysis: &analysis,
        lost,
    };
    let mut code = expand::flow(&cx);
    code.extend(mistakes.errors.into_tokens());
    code
}
