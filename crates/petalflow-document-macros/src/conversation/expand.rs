//! The type, and the module with the trait and its types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::conversation::ast::Input;
use crate::conversation::model::{
    Action, Arguments, Chosen, Function, Item, ItemKind, Model, Named, Reply, Variant,
};
use crate::conversation::read::Document;
use crate::reported;

pub(crate) fn expand(input: &Input, document: &Document, model: &Model) -> TokenStream {
    let private = {
        let runtime = &input.runtime;
        quote!(#runtime::__private)
    };
    let definition = definition(input, document, model, &private);
    let errors = errors(input, document);
    let Input {
        visibility,
        name,
        module,
        ..
    } = input;
    let about = format!("The types of [`{name}`].");
    let items = module_items(model, &private, input.path.span());
    quote! {
        #definition
        #errors

        #[doc = #about]
        #[allow(dead_code, unreachable_pub, unused_variables, rustdoc::all)]
        #visibility mod #module { #items }
    }
}

/// The type of the conversation.
fn definition(
    input: &Input,
    document: &Document,
    model: &Model,
    private: &TokenStream,
) -> TokenStream {
    let Input {
        attributes,
        visibility,
        name,
        path,
        ..
    } = input;
    let title = format!("The conversation of `{}`.\n\n{}", path.value(), model.title);
    let constants = constants(document);
    let builder = builder(input, document, model, private);
    let warnings = reported::warnings(&document.warnings, attributes, path.span());
    quote! {
        #(#attributes)*
        #[doc = #title]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #name;

        #[allow(dead_code, unreachable_pub)]
        impl #name { #constants #builder }

        #warnings
    }
}

/// The mistakes of the document, at its path. What can be read of it is made nevertheless.
fn errors(input: &Input, document: &Document) -> Option<TokenStream> {
    if document.errors.is_empty() {
        return None;
    }
    let errors = reported::errors(&document.errors, input.path.span());
    let file = document.file.as_ref().and_then(|file| file.to_str());
    let included = document.included.iter().map(|(_, file)| file.as_str());
    let files = file.into_iter().chain(included);
    Some(quote! {
        #errors
        // The crate is compiled again when a file changes. A document with errors need not be a text.
        #(const _: &[::core::primitive::u8] = ::core::include_bytes!(#files);)*
    })
}

fn constants(document: &Document) -> TokenStream {
    // The crate is compiled again when the file changes.
    let file = document.file.iter().filter_map(|file| file.to_str());
    let text = if document.errors.is_empty() {
        quote!(#(::core::include_str!(#file))*)
    } else {
        quote!("")
    };
    let warnings = &document.warnings;
    quote! {
        /// The text of the document.
        pub const SOURCE: &'static ::core::primitive::str = #text;

        /// What is probably not as the author of the document wants.
        pub const WARNINGS: &'static [&'static ::core::primitive::str] = &[#(#warnings),*];
    }
}

fn builder(
    input: &Input,
    document: &Document,
    model: &Model,
    private: &TokenStream,
) -> TokenStream {
    let included = document.included.iter();
    let included = included.map(|(path, file)| quote!((#path, ::core::include_str!(#file))));
    let module = &input.module;
    let path = input.path.value();
    let needs_handlers = !model.functions.is_empty() || !model.actions.is_empty();
    let span = input.path.span();
    let (head, handlers) = if needs_handlers {
        (
            quote_spanned!(span=> pub fn builder<__H: #module::Handlers + 'static>(handlers: __H)),
            quote_spanned!(span=> handlers),
        )
    } else {
        (quote_spanned!(span=> pub fn builder()), quote!(()))
    };
    // The time that rustc takes for a body grows faster than the body.
    let parts = model.functions.chunks(20).map(|part| {
        let entries = part.iter().map(|it| function_entry(it, private));
        quote! {{
            fn part<__H: #module::Handlers + 'static>() -> #private::Vec<#private::Function<__H>> {
                <#private::Vec<_> as ::core::convert::From<[_; _]>>::from([#(#entries),*])
            }
            part::<__H>
        }}
    });
    let actions = model.actions.iter().map(|Action { name, handler, .. }| {
        let name = ident(name, Span::call_site());
        quote!(#private::action::<__H>(#handler, |h, call| #private::boxed(h.#name(call))))
    });
    let renamed = model
        .renamed
        .iter()
        .map(|[node, function, handler]| quote!((#node, #function, #handler)));
    quote! {
        /// Starts to build the conversation.
        #head -> #private::ConversationBuilder {
            #private::builder(
                (#path, Self::SOURCE, &[#(#included),*]),
                #handlers,
                &[#(#parts),*],
                [#(#actions),*],
                &[#(#renamed),*],
            )
        }
    }
}

fn function_entry(function: &Function, private: &TokenStream) -> TokenStream {
    let name = ident(&function.name, Span::call_site());
    let handler = &function.handler;
    let finish = match &function.result {
        Reply::Branch(field, _) => {
            quote!(|it| #private::branch(#field, it))
        }
        Reply::Any | Reply::Decision(_) => quote!(#private::reply),
    };
    match &function.arguments {
        Arguments::Nothing => {
            quote!(#private::function::<__H>(#handler, |h, _, cx| #private::done(h.#name(cx), #finish)))
        }
        Arguments::Struct(_) => {
            quote! {
                #private::function::<__H>(#handler, |h, v, cx| match #private::arguments(v) {
                    ::core::result::Result::Ok(a) => #private::done(h.#name(a, cx), #finish),
                    ::core::result::Result::Err(misfit) => #private::refused(misfit),
                })
            }
        }
        Arguments::Own(own) => {
            let own = ident(own, Span::call_site());
            quote! {
                #private::own::<__H, __H::#own>(#handler, |h, a, cx| #private::done(h.#name(a, cx), #finish))
            }
        }
    }
}

fn module_items(model: &Model, private: &TokenStream, span: Span) -> TokenStream {
    let node = node(&model.nodes, private, span);
    let handlers = handlers(model, private, span);
    let types = model.types.iter().map(|it| item(it, private, span));
    quote!(#node #handlers #(#types)*)
}

fn node(nodes: &[Variant], private: &TokenStream, span: Span) -> TokenStream {
    if nodes.is_empty() {
        return TokenStream::new();
    }
    let choice = choice(
        &ident("Node", span),
        "The nodes of the conversation.",
        nodes,
        private,
    );
    quote! {
        #choice

        impl Node {
            /// The node of this name.
            pub fn from_name(name: &str) -> ::core::option::Option<Self> {
                #private::find(name, &Self::ALL, &Self::WORDS)
            }
        }

        impl ::core::fmt::Display for Node {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::core::convert::From<Node> for #private::String {
            fn from(node: Node) -> Self {
                #private::text(node.as_str())
            }
        }
    }
}

fn handlers(model: &Model, private: &TokenStream, span: Span) -> TokenStream {
    if model.functions.is_empty() && model.actions.is_empty() {
        return TokenStream::new();
    }
    let functions = model.functions.iter().map(|function| {
        let name = ident(&function.name, span);
        let doc = plain(&function.doc);
        let (own, arguments) = arguments(function, private, span);
        let result = match &function.result {
            Reply::Any => quote!(#private::Value),
            Reply::Branch(_, it) => {
                let it = chosen(it, private, span);
                quote!(#private::BranchResult<#it>)
            }
            Reply::Decision(it) => chosen(it, private, span),
        };
        // With the span of the user's token, errors do not name the macro behind `conversation!`.
        quote_spanned! {span=>
            #own
            #[doc = #doc]
            fn #name(&self, #arguments cx: &#private::ToolContext) -> impl ::core::future::Future<
                Output = ::core::result::Result<#result, #private::BoxError>,
            > + ::core::marker::Send;
        }
    });
    let actions = model.actions.iter().map(|action| {
        let name = ident(&action.name, span);
        let doc = plain(&action.doc);
        quote_spanned! {span=>
            #[doc = #doc]
            fn #name(&self, call: #private::ActionCall) -> impl ::core::future::Future<
                Output = ::core::result::Result<(), #private::BoxError>,
            > + ::core::marker::Send;
        }
    });
    quote_spanned! {span=>
        /// The code of the functions and actions.
        pub trait Handlers: ::core::marker::Send + ::core::marker::Sync {
            #(#functions)*
            #(#actions)*
        }
    }
}

/// The associated type of the arguments of a function, and the parameter for them.
fn arguments(
    function: &Function,
    private: &TokenStream,
    span: Span,
) -> (Option<TokenStream>, Option<TokenStream>) {
    match &function.arguments {
        Arguments::Nothing => (None, None),
        Arguments::Struct(name) => {
            let name = ident(name, span);
            (None, Some(quote_spanned!(span=> arguments: #name,)))
        }
        Arguments::Own(own) => {
            let doc = format!(
                "The arguments of the function `{}`. The doc comment of the type tells the model what the function is for.",
                function.handler
            );
            let own = ident(own, span);
            let own_type = quote_spanned! {span=>
                #[doc = #doc]
                type #own: #private::ToolArgument + 'static;
            };
            (
                Some(own_type),
                Some(quote_spanned!(span=> arguments: Self::#own,)),
            )
        }
    }
}

fn chosen(chosen: &Chosen, private: &TokenStream, span: Span) -> TokenStream {
    match chosen {
        Chosen::Bool => quote!(bool),
        Chosen::Number => quote!(f64),
        Chosen::Any => quote!(#private::Value),
        Chosen::Item(name) => {
            let name = ident(name, span);
            quote!(#name)
        }
    }
}

fn item(item: &Item, private: &TokenStream, span: Span) -> TokenStream {
    let name = ident(&item.name, span);
    let doc = &item.doc;
    let fields = match &item.kind {
        ItemKind::Choice(variants) => return choice(&name, doc, variants, private),
        ItemKind::Result(variants, other) => return result(&name, doc, variants, other, private),
        ItemKind::Struct(fields) => fields,
    };
    let declared = fields.iter().map(|field| {
        let name = ident(&field.name, Span::call_site());
        let doc = plain(&field.doc);
        let ty = named(&field.ty, private);
        quote_spanned!(span=> #[doc = #doc] pub #name: #ty)
    });
    let read = fields.iter().map(|field| {
        let name = ident(&field.name, Span::call_site());
        let key = &field.key;
        quote!(#name: fields.get(#key))
    });
    let write = fields.iter().map(|field| {
        let name = ident(&field.name, Span::call_site());
        let key = &field.key;
        quote!((#key, &self.#name))
    });
    let count = fields.len();
    let definition = quote_spanned!(span=> pub struct #name { #(#declared,)* });
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #definition

        impl #private::Argument for #name {
            fn of_fields(fields: &mut #private::Fields) -> Self {
                #name { #(#read,)* }
            }
        }

        impl #private::Serialize for #name {
            fn serialize<S: #private::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                let fields: [(&str, &dyn #private::Write); #count] = [#(#write),*];
                #private::serialize(&fields, serializer)
            }
        }
    }
}

/// An enum of texts.
fn choice(name: &Ident, doc: &str, variants: &[Variant], private: &TokenStream) -> TokenStream {
    let count = variants.len();
    let span = name.span();
    let names: Vec<Ident> = variants.iter().map(|it| ident(&it.name, span)).collect();
    let docs = variants.iter().map(|it| plain(&it.doc));
    let values = variants.iter().map(|it| &it.value);
    let definition = quote_spanned!(span=> pub enum #name { #(#[doc = #docs] #names,)* });
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #definition

        impl ::core::cmp::Eq for #name {}

        impl #name {
            /// All values, in the order of the document.
            pub const ALL: [Self; #count] = [#(Self::#names),*];

            /// What it is called in the document.
            pub fn as_str(self) -> &'static str {
                Self::WORDS[self as usize]
            }

            const WORDS: [&'static str; #count] = [#(#values),*];
        }

        impl #private::Argument for #name {
            fn of_fields(_: &mut #private::Fields) -> Self {
                Self::ALL[0]
            }

            fn read(value: #private::Value) -> ::core::result::Result<Self, #private::Misfit> {
                match #private::position(&value, &Self::WORDS) {
                    ::core::result::Result::Ok(at) => ::core::result::Result::Ok(Self::ALL[at]),
                    ::core::result::Result::Err(misfit) => ::core::result::Result::Err(misfit),
                }
            }
        }

        impl #private::Serialize for #name {
            fn serialize<S: #private::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    }
}

/// An enum of texts and any other value.
fn result(
    name: &Ident,
    doc: &str,
    variants: &[Variant],
    other: &str,
    private: &TokenStream,
) -> TokenStream {
    let names: Vec<Ident> = variants
        .iter()
        .map(|it| ident(&it.name, Span::call_site()))
        .collect();
    let docs = variants.iter().map(|it| plain(&it.doc));
    let values = variants.iter().map(|it| &it.value);
    let span = name.span();
    let other = ident(other, span);
    let definition = quote_spanned! {span=>
        pub enum #name {
            #(#[doc = #docs] #names,)*
            /// Anything else.
            #other(#private::Value),
        }
    };
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #definition

        impl #private::Reply for #name {
            fn into_value(self) -> #private::Value {
                match self {
                    #(Self::#names => #private::word(#values),)*
                    Self::#other(value) => value,
                }
            }
        }
    }
}

fn named(ty: &Named, private: &TokenStream) -> TokenStream {
    match ty {
        Named::Text => quote!(#private::String),
        Named::Integer => quote!(i64),
        Named::Number => quote!(f64),
        Named::Bool => quote!(bool),
        Named::Object => quote!(#private::Map<#private::String, #private::Value>),
        Named::Any => quote!(#private::Value),
        Named::List(inner) => {
            let inner = named(inner, private);
            quote!(#private::Vec<#inner>)
        }
        Named::Optional(inner) => {
            let inner = named(inner, private);
            quote!(::core::option::Option<#inner>)
        }
        Named::Item(name) => {
            let name = ident(name, Span::call_site());
            quote!(#name)
        }
    }
}

/// A description without what rustdoc would run as a test.
fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    lines.collect::<Vec<_>>().join("\n").replace("```", "'''")
}

fn ident(name: &str, span: Span) -> Ident {
    Ident::new(name, span)
}
