//! The syntax tree of `#[node]`: options, and a function or an `impl` block.

use petalflow_graph::similar;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, FnArg, Generics, LitStr, Path, Signature, Token, Type, Visibility};

use crate::attributes;
use crate::errors::Errors;
use crate::options::{self, Opt, Seen};
use crate::paths::Runtime;
use crate::site::quote;

/// The arguments of `#[node(Essay, ..)]`.
#[derive(Default)]
pub(crate) struct NodeArgs {
    /// The state. If it is missing, no node is generated.
    pub(crate) state: Option<Type>,
    pub(crate) krate: Option<Path>,
    pub(crate) name: Option<LitStr>,
    /// Expressions for the fields of `Policy`, without `Some`.
    pub(crate) retry: Option<TokenStream>,
    pub(crate) timeout: Option<TokenStream>,
    pub(crate) idle: Option<TokenStream>,
    pub(crate) cache: Option<TokenStream>,
    pub(crate) blocking: Option<Ident>,
    pub(crate) spawn: Option<Ident>,
}

/// The options of a node.
const OPTIONS: &[&str] = &[
    "name", "retry", "timeout", "idle", "cache", "blocking", "spawn", "crate",
];

impl NodeArgs {
    /// `hygiene`: a span of the user.
    pub(crate) fn parse(args: TokenStream, hygiene: Span, errors: &mut Errors) -> Self {
        let mut parsed = NodeArgs::default();
        let mut options = Vec::new();
        let before = errors.count();
        let read = |input: ParseStream| {
            // An option is not parsed as a state, so that a missing state is reported as missing.
            if input.peek(LitStr) {
                return Err(
                    input.error("the state is a type: write it without quotes, `#[node(Essay)]`")
                );
            }
            if !input.is_empty() && !starts_with_option(input) {
                if input.peek(Token![&]) {
                    errors.push(input.error("the state is named without `&`: `#[node(Essay)]`"));
                    input.parse::<Token![&]>()?;
                }
                parsed.state = Some(input.parse()?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            options = options::parse(input, errors);
            Ok(())
        };
        let rest = read.parse2(args.clone()).err();
        if let Some(error) = rest {
            // syn also reports the tokens that are left in a broken group. This is not a second mistake.
            if errors.count() == before {
                errors.push(error);
            }
        } else if parsed.state.is_none() {
            let message = "`#[node]` needs the state as its first argument: `#[node(Essay)]`";
            if args.is_empty() {
                // The place of the attribute with the hygiene of the user: the error does not originate in the macro.
                let attribute = Span::call_site().resolved_at(hygiene);
                errors.push(syn::Error::new(attribute, message));
            } else {
                errors.at(&args, message);
            }
        }
        let mut seen = Seen::new(OPTIONS);
        let mut retry = None;
        for option in options {
            // If the state is missing, an unknown option can be a misspelled state.
            if parsed.state.is_none() && !OPTIONS.iter().any(|known| option.name == known) {
                continue;
            }
            match seen.accept(&option, errors) {
                Some("name") => parsed.name = option.text(errors),
                Some("retry") => retry = Some(option),
                Some("timeout") => parsed.timeout = duration(&option, errors),
                Some("idle") => parsed.idle = duration(&option, errors),
                Some("cache") => parsed.cache = duration(&option, errors),
                Some("blocking") => {
                    option.flag(errors);
                    parsed.blocking = Some(option.name);
                }
                Some("spawn") => {
                    option.flag(errors);
                    parsed.spawn = Some(option.name);
                }
                Some("crate") => parsed.krate = option.path(errors),
                _ => {}
            }
        }
        let runtime = Runtime::new(parsed.krate.as_ref());
        parsed.retry = retry.and_then(|option| option.retry(&runtime, errors));
        parsed
    }
}

/// An expression of type `Duration`.
fn duration(option: &Opt, errors: &mut Errors) -> Option<TokenStream> {
    option.duration(errors).map(options::duration_tokens)
}

fn starts_with_option(input: ParseStream) -> bool {
    let fork = input.fork();
    let Ok(word) = fork.call(<Ident as syn::ext::IdentExt>::parse_any) else {
        return false;
    };
    if fork.peek(Token![=]) {
        return true;
    }
    (word == "blocking" || word == "spawn") && (fork.is_empty() || fork.peek(Token![,]))
}

/// The item.
pub(crate) enum NodeItem {
    /// A function.
    Fn(Box<NodeFn>),
    /// An `impl` block. Each value of its type is a node.
    Impl(Box<NodeImpl>),
}

/// A function with an opaque body, so that an incomplete body is accepted.
pub(crate) struct NodeFn {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
    /// Whether parameters are incomplete, which rustc reports.
    pub(crate) incomplete: bool,
}

/// An `impl` block with its contents.
pub(crate) struct NodeImpl {
    pub(crate) attrs: Vec<Attribute>,
    /// The attributes `#[diagnostic::..]`. They are for the implementation of `Node`.
    pub(crate) diagnostics: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) impl_token: Token![impl],
    pub(crate) generics: Generics,
    /// The trait of `impl Trait for Type`, which is an error.
    pub(crate) of: Option<(Type, Token![for])>,
    pub(crate) ty: Type,
    pub(crate) body: Group,
    /// The methods in the block.
    pub(crate) methods: Vec<NodeFn>,
    /// The other items in the block.
    pub(crate) others: Vec<TokenStream>,
}

impl NodeItem {
    /// Parses the item. If that fails, it parses the item without the parameters that are incomplete.
    pub(crate) fn read(item: TokenStream) -> syn::Result<Self> {
        let error = match syn::parse2(item.clone()) {
            Ok(item) => return Ok(item),
            Err(error) => error,
        };
        let mut item = syn::parse2(complete_params(item).ok_or(error)?)?;
        if let NodeItem::Fn(function) = &mut item {
            function.incomplete = true;
        }
        Ok(item)
    }
}

/// The function without its incomplete parameters. rustc has parsed the function before and reports them; flows that name the node
/// still find it.
pub(crate) fn complete_params(item: TokenStream) -> Option<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut after_fn = false;
    let mut found = false;
    for mut token in item {
        match &token {
            TokenTree::Group(params)
                if after_fn && !found && params.delimiter() == Delimiter::Parenthesis =>
            {
                token = complete_list(params)?.into();
                found = true;
            }
            TokenTree::Ident(word) if word == "fn" => after_fn = true,
            _ => {}
        }
        tokens.append(token);
    }
    found.then_some(tokens)
}

/// The list without its incomplete parameters, and without defaults of parameters.
fn complete_list(params: &Group) -> Option<Group> {
    let read = |input: ParseStream| {
        let mut complete = Vec::new();
        while !input.is_empty() {
            let fork = input.fork();
            match fork.parse::<FnArg>() {
                Ok(param) if fork.is_empty() || fork.peek(Token![,]) || fork.peek(Token![=]) => {
                    input.advance_to(&fork);
                    complete.push(param);
                    options::skip_to_comma(input);
                }
                _ => options::skip_to_comma(input),
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(complete)
    };
    let complete = read.parse2(params.stream()).ok()?;
    let mut parens = Group::new(Delimiter::Parenthesis, quote!(#(#complete),*));
    parens.set_span(params.span());
    Some(parens)
}

impl Parse for NodeItem {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        if input.peek(Token![impl]) || (input.peek(Token![unsafe]) && input.peek2(Token![impl])) {
            let item = NodeImpl::parse(attrs, input)?;
            return Ok(NodeItem::Impl(Box::new(item)));
        }
        if starts_other_item(input) {
            let message = "a node is a function, or an `impl` block with one method: `#[node(Essay)] async fn write(topic: &str) -> EssayDraft { .. }`";
            return Err(syn::Error::new(input.span(), message));
        }
        let item = NodeFn::parse(attrs, input)?;
        Ok(NodeItem::Fn(Box::new(item)))
    }
}

/// Whether the item is not a function. rustc has parsed it, so its first tokens are sufficient.
pub(crate) fn starts_other_item(input: ParseStream) -> bool {
    let fork = input.fork();
    if fork.parse::<Visibility>().is_err() {
        return false;
    }
    let function = fork.peek(Token![fn])
        || fork.peek(Token![async])
        || fork.peek(Token![unsafe])
        || fork.peek(Token![extern]);
    !(function
        || fork.peek(Token![const])
            && (fork.peek2(Token![fn]) || fork.peek2(Token![async]) || fork.peek2(Token![unsafe])))
}

impl NodeFn {
    pub(crate) fn parse(attrs: Vec<Attribute>, input: ParseStream) -> syn::Result<Self> {
        let vis = input.parse()?;
        let sig = input.parse()?;
        let body = match input.parse::<TokenTree>() {
            Ok(body) => body.into_token_stream(),
            Err(_) => TokenStream::new(),
        };
        Ok(NodeFn {
            attrs,
            vis,
            sig,
            body,
            incomplete: false,
        })
    }

    /// The function without the parameter attributes of a node.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        self.to_tokens_without(is_ours)
    }

    /// The function without its parameters and its body, for one with a parameter or a body that was reported.
    pub(crate) fn to_tokens_without_parameters(&self) -> TokenStream {
        let NodeFn {
            attrs, vis, sig, ..
        } = self;
        let Signature {
            asyncness,
            fn_token,
            ident,
            output,
            ..
        } = sig;
        quote! {
            #(#attrs)*
            #[allow(dead_code, clippy::unused_async)]
            #vis #asyncness #fn_token #ident() #output {
                ::core::unreachable!()
            }
        }
    }

    /// The function without the parameter attributes that `ours` selects.
    pub(crate) fn to_tokens_without(&self, ours: fn(&Attribute) -> bool) -> TokenStream {
        let NodeFn {
            attrs,
            vis,
            sig,
            body,
            ..
        } = self;
        let mut sig = sig.clone();
        for input in &mut sig.inputs {
            if let FnArg::Typed(input) = input {
                attributes::extract(&mut input.attrs, ours);
            }
        }
        quote!(#(#attrs)* #vis #sig #body)
    }
}

/// `#[item]` and `#[key(..)]` on a parameter.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    attr.path().is_ident("item") || attr.path().is_ident("key") || is_misspelt(attr)
}

/// Whether the name of the attribute is similar to `item`.
pub(crate) fn is_misspelt(attr: &Attribute) -> bool {
    let name = attr.path().get_ident().filter(|name| *name != "item");
    name.is_some_and(|name| similar(&name.to_string(), ["item"].into_iter()).is_some())
}

impl NodeImpl {
    fn parse(mut attrs: Vec<Attribute>, input: ParseStream) -> syn::Result<Self> {
        let diagnostics = attributes::extract(&mut attrs, |attr| {
            let first = attr.path().segments.first();
            first.is_some_and(|first| first.ident == "diagnostic")
        });
        let unsafety = input.parse()?;
        let impl_token = input.parse()?;
        let mut generics: Generics = if input.peek(Token![<]) {
            input.parse()?
        } else {
            Generics::default()
        };
        let mut ty: Type = input.parse()?;
        let mut of = None;
        if input.peek(Token![for]) {
            let for_token = input.parse()?;
            of = Some((ty, for_token));
            ty = input.parse()?;
        }
        generics.where_clause = input.parse()?;
        let TokenTree::Group(body) = input.parse()? else {
            return Err(input.error("expected `{`"));
        };
        let mut methods = Vec::new();
        let mut others = Vec::new();
        let read = |input: ParseStream| {
            while !input.is_empty() {
                let fork = input.fork();
                if let Ok(attrs) = fork.call(Attribute::parse_outer)
                    && let Ok(method) = NodeFn::parse(attrs, &fork)
                {
                    input.advance_to(&fork);
                    methods.push(method);
                } else {
                    others.push(other_item(input)?);
                }
            }
            Ok(())
        };
        read.parse2(body.stream())?;
        Ok(NodeImpl {
            attrs,
            diagnostics,
            unsafety,
            impl_token,
            generics,
            of,
            ty,
            body,
            methods,
            others,
        })
    }

    /// The block without the parameter attributes of a node.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        let NodeImpl {
            attrs,
            diagnostics: _,
            unsafety,
            impl_token,
            generics,
            of,
            ty,
            body,
            methods,
            others,
        } = self;
        let methods = methods.iter().map(NodeFn::to_tokens);
        let mut braces = Group::new(Delimiter::Brace, quote!(#(#others)* #(#methods)*));
        braces.set_span(body.span());
        let of = of.as_ref().map(|(of, for_token)| quote!(#of #for_token));
        let clause = &generics.where_clause;
        quote!(#(#attrs)* #unsafety #impl_token #generics #of #ty #clause #braces)
    }
}

/// An item that is not a method, up to its `;` or its braces.
fn other_item(input: ParseStream) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let ends = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        tokens.append(token);
        if ends {
            break;
        }
    }
    Ok(tokens)
}
