//! The macros of petalflow. Depend on `petalflow`, which re-exports them.

mod ask;
mod errors;
mod flow;
mod node;
mod options;
mod paths;
mod route;
mod state;
#[cfg(test)]
mod tests;
#[cfg(feature = "tool")]
mod tool;
mod types;

use proc_macro::TokenStream;

/// Makes a struct a state: its fields become typed keys.
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
/// // The types that it makes.
/// let input = EssayInput { topic: "petals".into() };
/// let (draft, notes) = (EssayDraft("…".into()), EssayNotes(vec![]));
/// # assert_eq!((input.topic.as_str(), draft.0.as_str(), notes.0.len()), ("petals", "…", 0));
/// ```
///
/// Beside the struct stand, with its visibility,
///
/// * a newtype per key, named state + key: `EssayDraft(pub String)`. A node returns it to write the key.
/// * `EssayInput`, with the keys marked `input`: what a run starts from. It is read from data with serde, as in
///   `serde_json::from_str::<EssayInput>(text)?`: a key that is not part of the input is an error, and so is a missing one
///   unless it is an `Option`, has a `default`, or folds (`append`, `sum`, ..).
/// * `EssayUpdate`, one node's writes, with a method per key.
///
/// # Options of a key
///
/// | `#[key(..)]` | meaning |
/// | --- | --- |
/// | `input` | part of what a run starts from |
/// | `replace` | the reducer of a key that names none: one write in a superstep, which takes the value's place |
/// | `append`, `prepend`, `sum`, `min`, `max`, `merge`, `first`, `messages` | the reducer; each folds writes in place, see `petalflow::state::reduce` |
/// | `reduce = path` | a reducer of your own: `fn(&mut T, T)` |
/// | `skip_zero` | a write of the type's default is no write |
/// | `default`, `default = expr` | what it holds before the first write, which nodes may then read |
/// | `turn` | back to its default when a thread starts a new turn |
/// | `output` | must be written on every path to END |
/// | `untracked` | never stored |
/// | `ephemeral` | gone after one superstep |
/// | `id = "…"` | its name in storage |
/// | `name = Ident` | its newtype, where state + key is taken or too long |
///
/// # Options of the state
///
/// | `#[state(..)]` | meaning |
/// | --- | --- |
/// | `volatile` | values need none of serde's traits; runs over the state cannot be stored |
/// | `version = 1, migrate = path` | the version of what is stored, and the function that brings threads of lower versions up to it: `fn(u32, &mut petalflow::state::Migration) -> petalflow::Result<()>` |
/// | `crate = path` | where petalflow is, if it is not `::petalflow` |
#[proc_macro_attribute]
pub fn state(args: TokenStream, item: TokenStream) -> TokenStream {
    state::expand(&args.into(), &item.into()).into()
}

/// What `#[state]` becomes where a field is under `#[cfg]`. Not for users.
#[doc(hidden)]
#[proc_macro_derive(StateAfterCfg, attributes(key, __petalflow_state))]
pub fn state_after_cfg(item: TokenStream) -> TokenStream {
    state::expand_after_cfg(&item.into()).into()
}

/// Makes a function a node: a step of a flow.
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
/// assert_eq!(write("petals", &["say why".into()]).await.0, "petals: say why");
/// # }
/// ```
///
/// * A reference reads the key of its name; `Option<&T>` reads a key that holds an `Option`; `&Essay` reads the whole state;
///   `#[key(EssayNotes)] old: &[String]` reads the key of that type.
/// * A value comes from the run: `Context`, `Managed<T>`, anything that implements `Extract`.
/// * `#[item] topic: &Topic` is what the edge delivered.
/// * The return type says what is written: a typed key, a tuple of them, an `Option` of one, `()`, any of them in a
///   `Result`; a route or an `Each` comes last.
///
/// The function stays a function, so it is tested by calling it. Beside it stands `struct write {}`, which flows name.
///
/// # Options
///
/// | `#[node(Essay, ..)]` | meaning |
/// | --- | --- |
/// | `name = "…"` | its name, if not the function's |
/// | `retry = 3`, `retry = expr` | attempts in all, or a `Retry` |
/// | `retry = [expr, ..]` | several of them: the first that covers an error decides |
/// | `timeout = 30s` | the longest one attempt may take |
/// | `idle = 5s` | the longest one attempt may go without a sign of life |
/// | `cache = 1h` | how long a result stands for whoever reads the same, where the launch has a cache |
/// | `blocking` | a plain `fn` that blocks: it runs on a thread of its own, with clones of what it reads |
/// | `spawn` | runs as a task of its own, with clones of what it reads |
/// | `crate = path` | where petalflow is, if it is not `::petalflow` |
///
/// # Node values
///
/// On an `impl` block with one method the node is a value of the type, which may be generic over the keys it uses:
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
#[proc_macro_attribute]
pub fn node(args: TokenStream, item: TokenStream) -> TokenStream {
    node::expand(args.into(), item.into()).into()
}

/// Makes an enum a route: each variant is a way on, and may carry one value to the node it leads to.
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
/// `#[route(crate = path)]` says where petalflow is, if it is not `::petalflow`.
#[proc_macro_derive(Route, attributes(route))]
pub fn derive_route(item: TokenStream) -> TokenStream {
    route::expand(item.into()).into()
}

/// Makes a struct a question that a node can ask a person.
///
/// ```ignore
/// #[derive(Serialize, Ask)]
/// #[ask(answer = Review, name = "review-draft", key = id, expires = 3d, default = Review::Approve)]
/// struct ReviewDraft {
///     id: u64,
///     draft: String,
/// }
/// ```
///
/// # Options
///
/// | `#[ask(..)]` | meaning |
/// | --- | --- |
/// | `answer = Type` | what a person answers; must be given |
/// | `name = "…"` | its name in storage, if not the type's |
/// | `key = field` | tells apart several such questions of one node: the field's text, by `ToString` |
/// | `expires = 3d` | after how long it answers itself, with `default` |
/// | `default = expr` | what it then answers |
/// | `crate = path` | where petalflow is, if it is not `::petalflow` |
#[proc_macro_derive(Ask, attributes(ask))]
pub fn derive_ask(item: TokenStream) -> TokenStream {
    ask::expand(item.into()).into()
}

/// Makes a function a tool: something that a model may call.
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
/// // The function stays a function.
/// assert_eq!(search("petals".into(), None).await, ["On petals"]);
/// # }
/// ```
///
/// * The function's name and doc comment are the tool's name and description.
/// * A parameter is an argument: its doc comment is its description, its type gives the JSON Schema (`Deserialize` and
///   `JsonSchema`), and `#[serde(..)]` and `#[schemars(..)]` work on it as on a field. An `Option` may be left out.
/// * `Context`, `ToolContext` and `Managed<T>` come from the run, as does a parameter marked `#[run]`, of any type that
///   implements `Extract`.
/// * It returns whatever implements `Serialize`, or a `Result` of that; the model reads the error's message.
///
/// Beside the function stands `struct search {}`, which `tools![..]` and agents name.
///
/// # Options
///
/// | `#[tool(..)]` | meaning |
/// | --- | --- |
/// | `name = "…"` | its name, if not the function's |
/// | `description = "…"` | its description, if not the doc comment |
/// | `long_running` | its result comes later: what it returns now says that it has begun |
/// | `deferred` | it may return nothing now, and answer later in the same run |
/// | `confirm` | a person must agree to each call |
/// | `confirm = "…"` | the same, and this is what they are told |
/// | `confirm = path` | the same where the function says so. It takes the arguments by reference, in order, and returns `bool`, or an `Option` of what the person is told |
/// | `timeout = 30s` | the longest one attempt may take |
/// | `retry = 3`, `retry = expr`, `retry = [expr, ..]` | attempts in all, or a `Retry`, or several, as on a node. Arguments that do not fit are not tried again |
/// | `blocking` | a plain `fn` that blocks: it runs on a thread of its own |
/// | `crate = path` | where petalflow is, if it is not `::petalflow` |
#[cfg(feature = "tool")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(args.into(), item.into()).into()
}

/// What `petalflow::tools!` passes its tokens on to: `[$crate] search, fetch`.
#[cfg(feature = "tool")]
#[doc(hidden)]
#[proc_macro]
pub fn tools_impl(input: TokenStream) -> TokenStream {
    tool::set::expand(input.into()).into()
}

/// What `petalflow::flow!` passes its tokens on to: `[$crate] Name(State) { .. }`.
#[doc(hidden)]
#[proc_macro]
pub fn flow_impl(input: TokenStream) -> TokenStream {
    flow::expand(input.into()).into()
}
