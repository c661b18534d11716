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
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, bracketed};

use ast::FlowAst;

use crate::errors::Errors;
use crate::parsers::parse_with;
use crate::paths::name;
use crate::template::template;
use crate::{twice, types};

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
        let krate = cx.krate;
        let mut attrs = cx.attrs.to_vec();
        let parsed = parse_with(quote!(#[cfg(not(doc))]), &mut |input| {
            attrs.append(&mut input.call(Attribute::parse_outer)?);
            Ok(())
        });
        parsed.expect("the tokens are an attribute");
        let before = twice::flow(cx.name);
        let code = expand::flow(&expand::Cx {
            attrs: &attrs,
            before: before.as_ref(),
            ..*cx
        });
        let error = before.map(|before| {
            let text = format!(
                "flow `{0}` has the name of {before} in the same module, and both are types: rename one of them",
                name(cx.name)
            );
            syn::Error::new(cx.name.span(), text).to_compile_error()
        });
        template! { [code, error, krate, documented]
            #code
            #error
            #[cfg(doc)]
            #krate::__private::flow_documented! { #documented }
        }
    })
}

/// Expands the same for rustdoc: the interface without the bounds that only errors need, with a picture of the graph.
pub(crate) fn documented(input: TokenStream) -> TokenStream {
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
    let parsed = parse_with(input, &mut |input| {
        read = Some(input.parse::<Input>()?);
        Ok(())
    });
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
        before: None,
    };
    let mut code = code(&cx);
    code.extend(mistakes.errors.into_tokens());
    code
}
