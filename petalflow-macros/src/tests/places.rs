//! Each generated token is at a token of the user: see `crate::site`.

use proc_macro2::{TokenStream, TokenTree};

use crate::{ask, flow, node, route, site, state};

/// Tokens with places, as rustc gives them.
fn read(code: &str) -> TokenStream {
    // The first token of a file is at the place of tokens that are at none.
    format!("\n{code}").parse().expect("the code has tokens")
}

/// The expansion, with `<<` before each token that is at no token of the user.
fn misplaced(expansion: TokenStream) -> Vec<String> {
    let mut before = Vec::new();
    let mut found = Vec::new();
    collect(expansion, &mut before, &mut found);
    found.retain(|token| {
        let for_editors = token.contains("editor : : Arms for");
        let without_suggestion = ["<<__ARE_NODES>>", "<<impl>>"];
        !for_editors && !without_suggestion.iter().any(|it| token.ends_with(it))
    });
    found
}

fn collect(tokens: TokenStream, before: &mut Vec<String>, found: &mut Vec<String>) {
    for token in tokens {
        if token.span().byte_range() == (0..0) {
            let from = before.len().saturating_sub(8);
            found.push(format!("{} <<{token}>>", before[from..].join(" ")));
        }
        if let TokenTree::Group(group) = token {
            before.push("(".into());
            collect(group.stream(), before, found);
        } else {
            before.push(token.to_string());
        }
    }
}

/// Asserts that the attribute or derive places all tokens.
#[track_caller]
fn assert_placed(item: &str, expand: impl FnOnce(TokenStream) -> TokenStream) {
    let misplaced = misplaced(site::at_item(read(item), expand));
    assert!(misplaced.is_empty(), "{}", misplaced.join("\n"));
}

#[test]
fn of_states() {
    for (args, item) in [
        (
            "",
            "pub struct Essay { #[key(input)] pub topic: String, pub draft: String }",
        ),
        (
            "version = 2, migrate = upgrade, schema",
            "#[derive(Debug)] struct Essay {
                #[key(input, default = 3)] rounds: u32,
                #[key(append)] notes: Vec<String>,
                #[key(merge)] parts: BTreeMap<String, u8>,
                #[key(sum)] total: u64,
                #[key(max)] best: u64,
                #[key(fold = join)] words: String,
                #[key(exclusive, optional)] reply: Option<String>,
                #[key(ephemeral)] scratch: Vec<u8>,
                #[key(untracked, default)] handle: Handle,
                #[key(rename = \"other\", secret)] key: String,
                #[key(indexed)] amount: i64,
            }",
        ),
        (
            "",
            "struct Essay { #[cfg(unix)] #[key(input)] topic: String }",
        ),
    ] {
        let args = read(args);
        assert_placed(item, |item| state::expand(args, item));
    }
}

#[test]
fn of_nodes() {
    for (args, item) in [
        (
            "Essay",
            "pub async fn write(topic: &str, notes: &[String]) -> EssayDraft { EssayDraft(topic.into()) }",
        ),
        (
            "Essay",
            "fn write(essay: &Essay, cx: Context, db: Managed<Db>) -> Result<(EssayDraft, EssayNotes, Verdict), Error> { todo!() }",
        ),
        (
            "Essay, name = \"w\", retry = 3, timeout = \"5s\", idle = \"1s\", cache = \"1h\", spawn",
            "async fn write(#[item] topic: &str, #[key(EssayNotes)] old: Option<&Vec<String>>) -> impl IntoIterator<Item = u8> { todo!() }",
        ),
        (
            "Essay, blocking",
            "fn write(topic: &str) -> (EssayDraft, EssayDraft) { todo!() }",
        ),
        (
            "K::State",
            "impl<K: Key> Shout<K> where K: Send { async fn run(&self, #[key(K)] text: &str) -> K { todo!() } }",
        ),
        (
            "Essay",
            "impl Shout { fn run(&self, text: &str, cx: Context) -> EssayDraft { todo!() } }",
        ),
    ] {
        let args = read(args);
        assert_placed(item, |item| node::expand(args, item));
    }
}

#[test]
fn of_routes_and_questions() {
    for item in [
        "pub enum Verdict { Revise, Publish }",
        "enum Verdict { #[route(rename = \"again\")] Revise(Vec<u8>), Publish { at: u8 }, #[route(error)] Failed(Error) }",
        "enum Verdict<T> { Revise(T), Publish }",
    ] {
        assert_placed(item, route::expand);
    }
    for item in [
        "pub struct Review { id: u32, draft: String }",
        "#[ask(answer = Verdict, name = \"review\")] struct Review<T> { id: T }",
    ] {
        assert_placed(item, ask::expand);
    }
}

#[test]
fn of_flows() {
    for code in [
        "pub WriteEssay(Essay) { START -> write -> critique -> match { Revise => write, Publish => END }; defer critique; }",
        "#[flow(name = \"stored\")] WriteEssay(Essay) {
            node writer: AgentNode;
            START -> writer -> a | b -> join -> each(topics) worker -> END;
            a -> match { X(_) => sub, _ => END };
            sub: Other { in: |s: &Essay| OtherInput { n: s.n }, out: |r: Other| EssayDraft(r.n) };
            interrupt before writer;
        }",
    ] {
        let mut input: TokenStream = read("[__petalflow_root]");
        input.extend(read(code));
        let expansion = flow::expand(input);
        let misplaced = misplaced(expansion);
        assert!(misplaced.is_empty(), "{}", misplaced.join("\n"));
    }
}

#[cfg(feature = "tool")]
#[test]
fn of_partial_forms() {
    for item in [
        "pub struct Answer { text: String, #[serde(rename = \"x\")] tags: Vec<Tag>, kind: Option<Kind> }",
        "enum Kind { A, B { x: u8 }, C(String) }",
        "#[serde(tag = \"kind\", rename_all = \"snake_case\")] enum Kind { A, B { x: u8 } }",
    ] {
        assert_placed(item, crate::partial::expand);
    }
}
