//! `flow!`: parses a graph, checks it, and generates the type that runs it.

mod ast;
mod check;
mod editor;
mod expand;
mod lower;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use petalflow_graph::Analysis;
use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{bracketed, parse_quote_spanned};

use ast::FlowAst;

use crate::attributes;
use crate::errors::Errors;
use crate::site::{self, quote};
use crate::types;

/// The input from the `macro_rules!` wrapper: `[$crate]` and the tokens of the user.
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

/// Expands `[$crate] Name(State) { .. }`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let documented = input.clone();
    read(input, &|cx| {
        site::at(cx.name.span(), || {
            let krate = cx.krate;
            let mut attrs = cx.attrs.to_vec();
            attrs.push(parse_quote_spanned!(site::span()=> #[cfg(not(doc))]));
            attributes::allow_expected(&mut attrs);
            let code = expand::flow(&expand::Cx {
                attrs: &attrs,
                ..*cx
            });
            quote! {
                #code
                #[cfg(doc)]
                #krate::__private::flow_documented! { #documented }
            }
        })
    })
}

/// Expands the same for rustdoc: the interface without the bounds that only errors need, with a picture of the graph.
pub(crate) fn expand_for_rustdoc(input: TokenStream) -> TokenStream {
    read(input, &editor::interface)
}

/// Expands the same for rust-analyzer.
pub(crate) fn in_editor(input: TokenStream) -> TokenStream {
    let body = match input.clone().into_iter().last() {
        Some(TokenTree::Group(body)) => body.stream(),
        _ => TokenStream::new(),
    };
    read(input, &|cx| editor::flow(cx, body.clone()))
}

/// Reads and checks a flow. `code` generates its code.
fn read(input: TokenStream, code: &dyn Fn(&expand::Cx<'_>) -> TokenStream) -> TokenStream {
    let mut read = None;
    let parser = |input: ParseStream| {
        read = Some(input.parse::<Input>()?);
        Ok(())
    };
    let parsed = parser.parse2(input);
    // syn also reports the tokens that are left in a broken group. This is not a second mistake.
    let rest = parsed.err();
    let Some(Input { krate, mut flow }) = read else {
        let mut errors = Errors::default();
        if let Some(error) = rest {
            errors.push(error);
        }
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
    let module = expand::module(&name, &state);
    let cx = expand::Cx {
        krate: &krate,
        attrs: &attrs,
        vis: &vis,
        name: &name,
        module: module.as_ref(),
        stored: stored.as_ref(),
        state: &state,
        model: &model,
        graph: &graph,
        analysis: &analysis,
        lost,
    };
    let mut code = code(&cx);
    code.extend(mistakes.errors.into_tokens());
    code
}
