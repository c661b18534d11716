//! `tools!`: a list of tools with different names, which is checked at compile time.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Token, Type, bracketed, token};

use crate::errors::Errors;
use crate::options::skip_to_comma;
use crate::paths::Runtime;
use crate::site::quote;
use crate::spans::with_spans;

/// The input from the `macro_rules!` wrapper: `[$crate]` and the tokens of the user.
struct Input {
    krate: TokenStream,
    tools: Vec<Type>,
    errors: Errors,
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let krate;
        bracketed!(krate in input);
        let krate = krate.parse()?;
        let (mut tools, mut errors) = (Vec::new(), Errors::default());
        while !input.is_empty() {
            match input.parse::<Type>() {
                Ok(tool) if input.is_empty() || input.peek(Token![,]) => tools.push(tool),
                result => {
                    let span = result.map_or_else(|error| error.span(), |_| input.span());
                    let text = if input.peek(token::Paren) {
                        "a tool is named here, not called: remove the parentheses"
                    } else {
                        "`tools!` takes the names of functions with `#[tool]`: `tools![search, fetch]`; add a tool that is a value with `.with(..)`"
                    };
                    errors.push(syn::Error::new(span, text));
                    skip_to_comma(input);
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Input {
            krate,
            tools,
            errors,
        })
    }
}

/// Expands `[$crate] search, fetch`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Input {
        krate,
        tools,
        errors,
    } = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let runtime = &Runtime::from_wrapper(krate);
    let count = tools.len();
    let entries = tools
        .iter()
        .map(|tool| runtime.item_of(tool, &quote!(#runtime::tool::FnTool), "ENTRY"));
    // One check per tool, at its name.
    let checks = tools.iter().enumerate().skip(1).map(|(index, tool)| {
        let span = tool.span();
        let check = quote!(const _: () = __petalflow_tool::told_apart(&__TOOLS, #index););
        with_spans(check, &|_| span)
    });
    let errors = errors.into_tokens();
    quote! {{
        const __TOOLS: [#runtime::__private::tool::Entry; #count] = [#(#entries),*];
        #[allow(unused_imports)]
        use #runtime::__private::tool as __petalflow_tool;
        #(#checks)*
        #errors
        #runtime::__private::tool::set(&__TOOLS)
    }}
}
