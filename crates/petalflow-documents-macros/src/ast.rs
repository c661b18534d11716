//! What was written: `[crate] pub Name = "file"`.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Token, Visibility, bracketed};

pub(crate) struct FlowFrom {
    /// The path of `petalflow-envelope`.
    pub(crate) runtime: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Option<Ident>,
    pub(crate) path: LitStr,
}

impl Parse for FlowFrom {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let runtime;
        bracketed!(runtime in input);
        let runtime = runtime.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = if input.peek(Ident) {
            let name: Ident = input.parse()?;
            if !input.peek(Token![=]) {
                let text = "expected the path of a document in quotes, as in `flow_from!(\"greeting.graph.json\")`, or with a name, as in `flow_from!(Greeting = \"greeting.graph.json\")`";
                return Err(syn::Error::new(name.span(), text));
            }
            input.parse::<Token![=]>()?;
            Some(name)
        } else {
            None
        };
        let path = input.parse()?;
        input.parse::<Option<Token![;]>>()?;
        if !input.is_empty() {
            return Err(input.error(
                "expected the path of one document, as in `flow_from!(\"greeting.graph.json\")`",
            ));
        }
        Ok(FlowFrom {
            runtime,
            attributes,
            visibility,
            name,
            path,
        })
    }
}
