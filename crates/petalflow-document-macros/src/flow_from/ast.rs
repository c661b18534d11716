//! The input of the macro: `[crate] pub Name = "file"`.

use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Token, Visibility, bracketed};

pub(crate) struct FlowFrom {
    /// The path of `petalflow-documents`.
    pub(crate) runtime: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Option<Ident>,
    pub(crate) path: LitStr,
}

/// What is written instead, if it is not that.
pub(crate) struct Broken {
    pub(crate) error: syn::Error,
    pub(crate) visibility: Visibility,
    /// The name of the type, if there is one.
    pub(crate) name: Option<Ident>,
}

impl FlowFrom {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Result<Self, Broken>> {
        let runtime;
        bracketed!(runtime in input);
        let runtime = runtime.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = if input.peek(Ident) && input.peek2(Token![=]) {
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            Some(name)
        } else {
            None
        };
        let path = input.parse();
        input.parse::<Option<Token![;]>>()?;
        if let (Ok(path), true) = (path, input.is_empty()) {
            return Ok(Ok(FlowFrom {
                runtime,
                attributes,
                visibility,
                name,
                path,
            }));
        }
        let error = input.error(
            "expected the path of a document in quotes, as in `flow_from!(\"greeting.graph.json\")` or `flow_from!(pub Welcome = \"greeting.graph.json\")`",
        );
        input.parse::<TokenStream>()?;
        Ok(Err(Broken {
            error,
            visibility,
            name,
        }))
    }
}
