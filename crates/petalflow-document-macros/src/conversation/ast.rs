//! The input of the macro: `[crate] pub Name("file")`.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Token, Visibility, bracketed, parenthesized};

use crate::conversation::names;

pub(crate) struct Input {
    /// The path of `petalflow-conversations`.
    pub(crate) runtime: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    /// The module of the generated types.
    pub(crate) module: Ident,
    pub(crate) path: LitStr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const EXAMPLE: &str = "`conversation! { pub FoodOrder(\"food_order.json\") }`";
        let runtime;
        bracketed!(runtime in input);
        let runtime = runtime.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Ident) {
            let message = format!("expected the name of the conversation, as in {EXAMPLE}");
            return Err(input.error(message));
        }
        let name: Ident = input.parse()?;
        let module = names::snake(&name.to_string()).unwrap_or_default();
        if module.is_empty() || name == module {
            let camel = names::camel(&name.to_string()).unwrap_or_default();
            return Err(syn::Error::new(
                name.span(),
                format!(
                    "`{name}` would be a type and a module of the same name: begin it with a capital letter, `{camel}`"
                ),
            ));
        }
        let module = Ident::new(&module, name.span());
        if !input.peek(syn::token::Paren) {
            let message = format!("expected the path of the document, as in {EXAMPLE}");
            return Err(input.error(message));
        }
        let content;
        parenthesized!(content in input);
        if !content.peek(LitStr) {
            let message = format!("expected the path of the document in quotes, as in {EXAMPLE}");
            return Err(content.error(message));
        }
        let path = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        input.parse::<Option<Token![;]>>()?;
        for rest in [&content, input] {
            if !rest.is_empty() {
                let message = format!("expected one document, as in {EXAMPLE}");
                return Err(rest.error(message));
            }
        }
        Ok(Input {
            runtime,
            attributes,
            visibility,
            name,
            module,
            path,
        })
    }
}
