//! Incomplete input: an editor expands the macros after each key press.
//!
//! For any incomplete input, a macro does not panic, the expansion is Rust, the messages are those of petalflow, and the
//! types that the rest of the program names exist.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::{errors, types};

const FLOW: &str = "
    pub Write(Essay) {
        START -> plan -> each nodes::research -> gather & (audit | log);
        gather -> critique -> match { Revise | Retry => plan, Found => each dig, Publish => END };
        catch plan -> recover;
        interrupt before gather;
        interrupt after dig if |draft: &str, notes: Option<&str>| -> bool { draft.len() > 400 };
        defer log;
        node polish = nodes::write;
        node reply: Llm<EssayMessages> = Llm::new(\"x\");
        node ask: Llm<EssayMessages>;
        node review: Review { in: |draft: &str| ReviewInput { draft: draft.into() }, out: |r: Review| EssayNotes(r.notes), keep: thread };
        with plan { retry: 3, timeout: 30s, id: \"plan\" };
    }";

const STATE: &str = "
    /// What it knows.
    #[derive(Debug)]
    pub struct Essay {
        /// What to write about.
        #[key(input)]
        pub topic: String,
        #[key(append, skip_zero, id = \"n\", name = Notes)]
        notes: Vec<Option<String>>,
        #[key(default = vec![1], reduce = other::longest)]
        longest: Vec<u8>,
    }";

const NODE: &str = "
    /// Writes.
    pub(crate) async fn write(topic: &str, #[key(EssayNotes)] old: &[String], #[item] item: &Topic, cx: Context)
        -> Result<(EssayDraft, Option<EssayNotes>), Oops> {
        let x = topic.len();
        Ok((EssayDraft(x), None))
    }";

const VALUE: &str = "
    impl<K: Key<Value = String>> Shout<K> {
        async fn run(&self, #[key(K)] text: &str) -> K { K::new(text) }
    }";

const NODE_OPTIONS: &str = "Essay, name = \"w\", retry = [Retry::of(3), other], timeout = 30s, blocking, crate = my::petalflow";

const ROUTE: &str = "pub enum Verdict { #[allow(unused)] Dig(String), Publish }";

/// The tokens before each token, with closed groups, and the tokens without each token.
fn incomplete(tokens: &TokenStream) -> Vec<TokenStream> {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    for (index, token) in all.iter().enumerate() {
        let before = || all[..index].iter().cloned();
        let after = || all[index + 1..].iter().cloned();
        found.push(before().collect());
        found.push(before().chain(after()).collect());
        if let TokenTree::Group(group) = token
            && group.delimiter() != Delimiter::None
        {
            for inner in incomplete(&group.stream()) {
                let inner = TokenTree::from(Group::new(group.delimiter(), inner));
                found.push(before().chain([inner.clone()]).collect());
                found.push(before().chain([inner]).chain(after()).collect());
            }
        }
    }
    found
}

fn each(text: &str, mut check: impl FnMut(TokenStream)) {
    let tokens: TokenStream = text.parse().expect("tokens");
    incomplete(&tokens).into_iter().for_each(&mut check);
}

/// A part that cannot be read is one mistake, and the expansion still contains it, so that the editor can complete in it.
fn at_most_one_error(input: &TokenStream, expansion: TokenStream) {
    let found = messages(expansion.clone());
    assert!(found.len() <= 1, "{input}: {found:?}");
    let (written, text) = (
        input.clone().into_iter().count(),
        expansion.into_iter().count(),
    );
    assert!(written <= text + 1, "{input}");
}

/// No message is what a parser says of its own grammar.
fn are_reworded(messages: &[String], input: &TokenStream) {
    for message in messages {
        assert!(
            !message.contains("expected one of: `for`") && message != "unexpected token",
            "{message}\nof: {input}"
        );
    }
}

#[test]
fn a_flow_with_name_and_state_has_a_type() {
    each(FLOW, |flow| {
        let head = flow.to_string().starts_with("pub Write (Essay)");
        let expansion = crate::flow::expand(quote::quote!([petalflow] #flow));
        are_reworded(&errors(expansion.clone()), &flow);
        if head {
            let declared = types(expansion);
            assert!(
                declared.iter().any(|name| name == "Write"),
                "{flow}: {declared:?}"
            );
        }
    });
}

#[test]
fn an_incomplete_state_has_its_types() {
    each(STATE, |item| {
        let expansion = crate::state::expand(TokenStream::new(), item.clone());
        at_most_one_error(&item, expansion);
    });
}

#[test]
fn an_incomplete_node_is_a_node() {
    each(NODE, |item| {
        let expansion = crate::node::expand(quote::quote!(Essay), item.clone());
        at_most_one_error(&item, expansion);
    });
    each(VALUE, |item| {
        let expansion = crate::node::expand(quote::quote!(K::State), item.clone());
        at_most_one_error(&item, expansion);
    });
}

#[test]
fn complete_parts_are_expanded() {
    let half = [
        "struct Essay { #[key(input)] topic: String, pub x #[key(append)] notes: Vec<String>, draft: String }",
        "struct Essay { #[key(input)] topic: String, pub x: , notes: Vec<String>, draft: String, #[key(sum)] }",
    ];
    for item in half {
        let expansion = crate::state::expand(TokenStream::new(), item.parse().expect("tokens"));
        assert_eq!(messages(expansion.clone()), [""; 0], "rustc has said it");
        let found = types(expansion);
        assert_eq!(
            found,
            [
                "Essay",
                "EssayInput",
                "EssayTopic",
                "EssayNotes",
                "EssayDraft",
                "EssayUpdate"
            ]
        );
    }
    for item in [
        "async fn write(topic: &str, dra) -> EssayDraft { EssayDraft(topic.into()) }",
        "async fn write(topic: &str, #[item] x: , cx: Context) -> EssayDraft { EssayDraft(topic.into()) }",
    ] {
        let expansion = crate::node::expand(quote::quote!(Essay), item.parse().expect("tokens"));
        assert_eq!(messages(expansion.clone()), [""; 0], "rustc has said it");
        assert_eq!(types(expansion), ["write"]);
    }
}

#[test]
fn a_node_with_broken_options_is_a_node() {
    let item = quote::quote!(
        async fn write(topic: &str) -> EssayDraft {
            EssayDraft(topic.into())
        }
    );
    each(NODE_OPTIONS, |options| {
        let expansion = crate::node::expand(options.clone(), item.clone());
        are_reworded(&errors(expansion.clone()), &options);
        assert!(
            types(expansion).iter().any(|name| name == "write"),
            "{options}"
        );
    });
}

#[test]
fn an_incomplete_route_has_its_type() {
    each(ROUTE, |item| {
        let expansion = crate::route::expand(item.clone());
        at_most_one_error(&item, expansion);
    });
}

/// The texts of all `compile_error!`s, where what stands beside them may be no Rust yet.
fn messages(expansion: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    collect(expansion, &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<String>) {
    let mut name = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => name = ident == "compile_error",
            TokenTree::Group(group) => {
                if name && let Ok(text) = syn::parse2::<syn::LitStr>(group.stream()) {
                    found.push(text.value());
                } else {
                    collect(group.stream(), found);
                }
                name = false;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
