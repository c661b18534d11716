//! Internal to petalflow: its macros. Depend on `petalflow`, which re-exports them.

#![allow(
    clippy::too_many_lines,
    reason = "the code in a `quote!` is long and flat"
)]
#![allow(
    clippy::large_enum_variant,
    reason = "spans are large where `span-locations` is enabled, as for the tests"
)]

mod ask;
mod attributes;
mod dependency;
mod editor;
mod errors;
mod flow;
mod node;
mod options;
#[cfg(feature = "tool")]
mod partial;
mod paths;
mod placeholder;
mod route;
mod site;
mod spans;
mod state;
#[cfg(test)]
mod tests;
#[cfg(feature = "tool")]
mod tool;
mod types;

use proc_macro::TokenStream;

/// Defines an attribute, and the same attribute for rust-analyzer.
macro_rules! for_compilers_and_editors {
    ($(#[doc = $doc:expr])* $name:ident = $expand:path, $in_editor:ident = $expand_in_editor:path) => {
        $(#[doc = $doc])*
        #[proc_macro_attribute]
        pub fn $name(args: TokenStream, item: TokenStream) -> TokenStream {
            site::at_item(item.into(), |item| $expand(args.into(), item)).into()
        }

        $(#[doc = $doc])*
        #[proc_macro_attribute]
        pub fn $in_editor(args: TokenStream, item: TokenStream) -> TokenStream {
            $expand_in_editor(args.into(), item.into()).into()
        }
    };
}

for_compilers_and_editors! {
/// Makes a struct a state: each field becomes a typed key.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// pub struct Essay {
///     #[key(input)]
///     pub topic: String,
///     pub draft: String,
///     #[key(append)]
///     pub notes: Vec<String>,
/// }
///
/// // The generated types.
/// let input = EssayInput { topic: "petals".into() };
/// let (draft, notes) = (EssayDraft("…".into()), EssayNotes(vec![]));
/// # assert_eq!((input.topic.as_str(), draft.0.as_str(), notes.0.len()), ("petals", "…", 0));
/// ```
///
/// # Generated types
///
/// They have the visibility of the struct.
///
/// * A newtype per key, with the names of state and key: `EssayDraft(pub String)`. A node returns it to write the key.
/// * `EssayInput` with the keys marked `input`. A run starts from it. It implements `Deserialize`, as in
///   `serde_json::from_str::<EssayInput>(text)?`. A key that is not part of the input is an error. A missing key is an error
///   unless it is an `Option`, has a `default`, or has a reducer that starts from a default (`append`, `sum`, ..).
/// * `EssayUpdate` with the writes of one node: a method per key.
///
/// # Options of a key
///
/// | `#[key(..)]` | meaning |
/// | --- | --- |
/// | `input` | the key is part of the input. A new turn of a thread writes it again, also if the input leaves it out and so has its default; with `skip_zero` it then keeps its value |
/// | `replace` | the default reducer: at most one write in a superstep, which replaces the value |
/// | `append`, `prepend`, `sum`, `min`, `max`, `merge`, `first`, `messages` | another reducer, which folds each write into the value; see `petalflow::state::reduce`. A `sum` that does not fit in its type is an error of the run |
/// | `reduce = path` | a reducer of your own: `fn(&mut T, T)` |
/// | `skip_zero` | a write of the default of the type is ignored |
/// | `default`, `default = expr` | the value before the first write; nodes may read it |
/// | `turn` | a new turn of a thread resets the key to its default |
/// | `output` | every path to END must write the key |
/// | `untracked` | the key is never stored, so its type needs no serde; a thread that is loaded has its default. A node or a guard that reads it in a resumed run before it is written again is an error, unless the key has a default. The same holds for a node or a guard that takes the whole state, if the key had a value. A task that wrote it and whose superstep was stopped runs again |
/// | `ephemeral` | the key has its value for one superstep only |
/// | `recover` | a turn after one that did not end begins with the writes to the key by the tasks that had finished in the last superstep |
/// | `secret` | a server does not show the value to clients. It is stored as any other value: to protect it there, encrypt the store |
/// | `inbox` | the key takes messages, which another program sends while the thread runs: see `Thread::send`. It needs a reducer |
/// | `receive` | the key takes messages, which nodes receive one by one: see `Context::receive`. They do not change its value |
/// | `indexed` | the key is a search attribute: threads are found by its newest value, see `Threads::list`. Its type is `bool`, an integer, a float, `String`, an `Option` of these, or implements `petalflow::state::Indexed`. The value is in clear in the index, so the key is not `secret` |
/// | `id = "…"` | the name of the key in storage |
/// | `name = Ident` | the name of the newtype, if the default name is taken or too long |
///
/// ```
/// use petalflow::prelude::*;
///
/// fn longest(value: &mut String, write: String) {
///     if write.len() > value.len() {
///         *value = write;
///     }
/// }
///
/// #[state]
/// struct Race {
///     #[key(append, name = Finisher)]
///     finishers: Vec<String>,
///     #[key(reduce = longest)]
///     longest_name: String,
/// }
///
/// #[node(Race)]
/// async fn hare() -> (Finisher, RaceLongestName) {
///     (Finisher(vec!["hare".into()]), RaceLongestName("hare".into()))
/// }
///
/// #[node(Race)]
/// async fn tortoise() -> (Finisher, RaceLongestName) {
///     (Finisher(vec!["tortoise".into()]), RaceLongestName("tortoise".into()))
/// }
///
/// flow! {
///     Run(Race) {
///         START -> hare & tortoise;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // Both nodes write both keys in one superstep. The reducers fold the writes in the order of the nodes.
/// let race = Run::run(()).await?;
/// assert_eq!(race.finishers, ["hare", "tortoise"]);
/// assert_eq!(race.longest_name, "tortoise");
/// # Ok(())
/// # }
/// ```
///
/// # Options of the state
///
/// | `#[state(..)]` | meaning |
/// | --- | --- |
/// | `volatile` | the types of keys need not implement the traits of serde, and runs cannot be stored |
/// | `version = 1, migrate = path` | the version of stored values, and the function that migrates threads of lower versions: `fn(u32, &mut petalflow::state::Migration) -> petalflow::Result<()>` |
/// | `schema` | the state has JSON Schemas, which a server shows to its clients: `petalflow::state::StateSchema`. The types of the keys implement `JsonSchema`; needs the feature `tool` |
/// | `crate = path` | the path of the crate petalflow, if it is not `::petalflow` |
state = state::expand, state_in_editor = state::in_editor
}

/// Replaces `#[state]` if a field has `#[cfg]`. Not for users.
#[doc(hidden)]
#[proc_macro_derive(StateAfterCfg, attributes(key, __petalflow_state))]
pub fn state_after_cfg(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), state::expand_after_cfg).into()
}

for_compilers_and_editors! {
/// Makes a function a node of flows over a state.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # pub struct Essay {
/// #     #[key(input)]
/// #     pub topic: String,
/// #     pub draft: String,
/// #     #[key(append)]
/// #     pub notes: Vec<String>,
/// # }
/// #[node(Essay)]
/// async fn write(topic: &str, notes: &[String]) -> EssayDraft {
///     EssayDraft(format!("{topic}: {}", notes.join(" ")))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // The function is unchanged, so a test can call it.
/// assert_eq!(write("petals", &["say why".into()]).await.0, "petals: say why");
/// # }
/// ```
///
/// The macro adds a type `write`, which flows name. It has the lints that are allowed on the function, and its `#[deprecated]`.
///
/// In its module, the name of a node means the node. If it is also the name of a crate, as that of a node `log` is, write `::log` for
/// the crate, as in `::log::info!("..")`, or rename the node.
///
/// # Parameters
///
/// | parameter | value |
/// | --- | --- |
/// | `topic: &str` | the key with the name of the parameter |
/// | `title: Option<&str>` | the same, for a key whose type is an `Option` |
/// | `#[key(EssayNotes)] old: &[String]` | the key with this newtype |
/// | `essay: &Essay` | the whole state |
/// | `#[item] topic: &Topic` | the item that the edge delivers |
/// | `cx: Context`, `model: Managed<T>` | a value of the run: any type that implements `Extract` |
///
/// # Return types
///
/// The return type states what the node writes and where the run continues.
///
/// | return type | effect |
/// | --- | --- |
/// | `EssayDraft` | writes the key |
/// | `Option<EssayDraft>` | writes the key, or nothing |
/// | `Overwrite<EssayNotes>` | replaces the value, without the reducer |
/// | `(EssayDraft, EssayNotes)` | writes several keys |
/// | `()` | writes nothing |
/// | `Verdict` with `#[derive(Route)]`, or `bool` | chooses a route; last in a tuple |
/// | `Each<Topic>` | sends items to the target of `each`; last in a tuple |
/// | `Result<T, E>` of any of them | can fail |
///
/// # Options
///
/// | `#[node(Essay, ..)]` | meaning |
/// | --- | --- |
/// | `name = "…"` | the name of the node in graphs, if it is not the name of the function; `node other = write;` in a flow has precedence |
/// | `retry = 3`, `retry = expr` | the number of attempts, or a `Retry` |
/// | `retry = [expr, ..]` | several `Retry`: the first that matches an error is used |
/// | `timeout = 30s` | the maximum duration of one attempt |
/// | `idle = 5s` | the maximum time that one attempt may run without reporting progress |
/// | `cache = 1h` | how long a result is valid for the same values of the keys that the node reads, if the launch has a cache |
/// | `blocking` | for a plain `fn` that blocks: it runs on a separate thread, with clones of the keys that it reads |
/// | `spawn` | the node runs as a separate task of the runtime, with clones of the keys that it reads |
/// | `crate = path` | the path of the crate petalflow, if it is not `::petalflow` |
///
/// # Node values
///
/// On an `impl` block with one method, each value of the type is a node. The type can be generic over the keys that it uses:
///
/// ```
/// use petalflow::prelude::*;
/// use std::marker::PhantomData;
///
/// struct Shout<K>(PhantomData<fn() -> K>);
///
/// #[node(K::State)]
/// impl<K: Key<Value = String>> Shout<K> {
///     async fn run(&self, #[key(K)] text: &str) -> K {
///         K::new(text.to_uppercase())
///     }
/// }
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     title: String,
/// }
///
/// flow! {
///     ShoutTitle(Essay) {
///         shout;
///         node shout: Shout<EssayTitle> = Shout(PhantomData);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(ShoutTitle::run("petals".to_string()).await?.title, "PETALS");
/// # Ok(())
/// # }
/// ```
node = node::expand, node_in_editor = node::in_editor
}

/// Makes each variant of an enum a route. A node that returns the enum chooses where the run continues.
///
/// A variant can carry one value. The edge of the variant delivers the value to its target as the item.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[derive(Route)]
/// enum Verdict {
///     Dig(String),
///     Publish,
/// }
///
/// #[state]
/// struct Essay {
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// #[node(Essay)]
/// async fn critique(notes: &[String]) -> Verdict {
///     if notes.is_empty() { Verdict::Dig("petals".into()) } else { Verdict::Publish }
/// }
///
/// #[node(Essay)]
/// async fn dig(#[item] topic: &str) -> EssayNotes {
///     EssayNotes(vec![format!("facts about {topic}")])
/// }
///
/// flow! {
///     Write(Essay) {
///         START -> critique -> match { Dig => dig, Publish => END };
///         dig -> critique;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Write::run(()).await?.notes, ["facts about petals"]);
/// # Ok(())
/// # }
/// ```
///
/// A route without an edge, and an edge without a route, are compile errors.
///
/// # Options
///
/// | `#[route(..)]` | meaning |
/// | --- | --- |
/// | `crate = path` | the path of the crate petalflow, if it is not `::petalflow` |
#[proc_macro_derive(Route, attributes(route))]
pub fn derive_route(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), route::expand).into()
}

/// Makes a struct a question that a node can ask a person with `Context::ask`.
///
/// The struct and the type of the answer implement the traits of serde, because a store records them.
///
/// ```
/// use petalflow::interrupt::Ask;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// enum Review {
///     Approve,
///     Reject,
/// }
///
/// #[derive(Serialize, Ask)]
/// #[ask(answer = Review, name = "review-draft", key = id, expires = 3d, default = Review::Reject)]
/// struct ReviewDraft {
///     id: u64,
///     draft: String,
/// }
///
/// let question = ReviewDraft { id: 7, draft: "Petals".into() };
/// assert_eq!((ReviewDraft::NAME, question.key()), ("review-draft", "7".to_string()));
/// # assert_eq!(question.draft, "Petals");
/// ```
///
/// # Options
///
/// | `#[ask(..)]` | meaning |
/// | --- | --- |
/// | `answer = Type` | the type of the answer; required |
/// | `name = "…"` | the name of the question in storage, if it is not the name of the type |
/// | `key = field` | distinguishes several such questions of one node: the text of the field, by `ToString` |
/// | `expires = 3d` | the time after which the question is answered with `default` |
/// | `default = expr` | the answer of a question that has expired |
/// | `crate = path` | the path of the crate petalflow, if it is not `::petalflow` |
#[proc_macro_derive(Ask, attributes(ask))]
pub fn derive_ask(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), ask::expand).into()
}

/// Makes a function a tool that a model can call.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::{Tool, ToolContext};
/// use serde_json::json;
///
/// /// Searches the library for books.
/// #[tool]
/// async fn search(
///     /// Words that the title must contain.
///     query: String,
///     /// The most books to return.
///     #[serde(default)]
///     limit: Option<u32>,
/// ) -> Vec<String> {
///     vec![format!("On {query}"); limit.unwrap_or(1) as usize]
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(search {}.spec().description, "Searches the library for books.");
/// let arguments = json!({ "query": "petals", "limit": 1 });
/// assert_eq!(search {}.call(arguments, &ToolContext::new("1")).await.unwrap(), json!(["On petals"]));
/// // The function is unchanged, so a test can call it.
/// assert_eq!(search("petals".into(), None).await, ["On petals"]);
/// # }
/// ```
///
/// * The name and the doc comment of the function are the name and the description of the tool.
/// * The return type implements `Serialize`, or it is a `Result` of such a type. The model receives the message of the error.
///
/// # Parameters
///
/// | parameter of a tool | value |
/// | --- | --- |
/// | `query: String` | an argument of the call. Its doc comment is the description. Its type implements `Deserialize` and `JsonSchema`. `#[serde(..)]` and `#[schemars(..)]` work as on a field |
/// | `limit: Option<u32>` | an argument that a call can leave out |
/// | `cx: Context`, `call: ToolContext`, `model: Managed<T>` | a value of the run |
/// | `#[run] user: User` | a value of the run, of a type of yours that implements `Extract` |
///
/// The macro adds a type `search`, which `tools![..]` and agents name. If a crate has that name, write `::search` for the crate.
///
/// # Options
///
/// | `#[tool(..)]` | meaning |
/// | --- | --- |
/// | `name = "…"` | the name of the tool, if it is not the name of the function |
/// | `description = "…"` | the description, if it is not the doc comment |
/// | `long_running` | the tool returns before its work is done, and the result follows later |
/// | `deferred` | the tool may return nothing, and answer later in the same run |
/// | `confirm` | a person must confirm each call |
/// | `confirm = "…"` | the same, with this question |
/// | `confirm = path` | a person must confirm the calls that this function selects. It takes the arguments by reference, in order, and returns `bool`, or an `Option` with the question |
/// | `timeout = 30s` | the maximum duration of one attempt |
/// | `retry = 3`, `retry = expr`, `retry = [expr, ..]` | the number of attempts, a `Retry`, or several, as for a node. Invalid arguments are not retried |
/// | `blocking` | for a plain `fn` that blocks: it runs on a separate thread |
/// | `crate = path` | the path of the crate petalflow, if it is not `::petalflow` |
#[cfg(feature = "tool")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(args.into(), item.into()).into()
}

/// Says that the feature is missing.
#[cfg(not(feature = "tool"))]
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tool(_: TokenStream, item: TokenStream) -> TokenStream {
    let item: proc_macro2::TokenStream = item.into();
    let mut tokens = item.clone().into_iter();
    tokens.find(|token| token.to_string() == "fn");
    let at = tokens
        .next()
        .map_or_else(proc_macro2::Span::call_site, |name| name.span());
    let text = "`#[tool]` is behind the feature `tool` of petalflow: `cargo add petalflow --features tool`";
    let error = syn::Error::new(at, text).into_compile_error();
    quote::quote!(#item #error).into()
}

/// Makes the partial form of a type, for answers that are read while a model writes them: see the trait of the same name.
#[cfg(feature = "tool")]
#[proc_macro_derive(Partial, attributes(partial, serde))]
pub fn derive_partial(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), partial::expand).into()
}

/// The implementation of `petalflow::tools!`. Takes `[$crate] search, fetch`.
#[cfg(feature = "tool")]
#[doc(hidden)]
#[proc_macro]
pub fn tools_impl(input: TokenStream) -> TokenStream {
    tool::set::expand(input.into()).into()
}

/// The implementation of `petalflow::flow!`. Takes `[$crate] Name(State) { .. }`.
#[doc(hidden)]
#[proc_macro]
pub fn flow_impl(input: TokenStream) -> TokenStream {
    flow::expand(input.into()).into()
}

/// The same for rust-analyzer, which sees the interface of the flow and the names in it.
#[doc(hidden)]
#[proc_macro]
pub fn flow_in_editor(input: TokenStream) -> TokenStream {
    flow::in_editor(input.into()).into()
}

/// The same for rustdoc, which sees the interface of the flow and a picture of its graph.
#[doc(hidden)]
#[proc_macro]
pub fn flow_documented(input: TokenStream) -> TokenStream {
    flow::expand_for_rustdoc(input.into()).into()
}
