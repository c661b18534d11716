//! The macros that are no attributes.

/// Declares a flow: a graph of nodes over a state, checked while it compiles.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// pub struct Essay {
///     #[key(input)]
///     pub topic: String,
///     pub draft: String,
///     #[key(sum)]
///     pub rounds: u32,
/// }
///
/// #[derive(Route)]
/// pub enum Verdict {
///     Revise,
///     Publish,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str, rounds: &u32) -> EssayDraft {
///     EssayDraft(format!("{topic}, take {}", rounds + 1))
/// }
///
/// #[node(Essay)]
/// async fn critique(draft: &str) -> (EssayRounds, Verdict) {
///     (EssayRounds(1), if draft.ends_with('3') { Verdict::Publish } else { Verdict::Revise })
/// }
///
/// flow! {
///     /// Drafts an essay and revises it until the critic is content.
///     pub WriteEssay(Essay) {
///         START -> write -> critique;
///         critique -> match { Revise => write, Publish => END };
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let essay = WriteEssay::run("petals".to_string()).await?;
/// assert_eq!(essay.draft, "petals, take 3");
/// # Ok(())
/// # }
/// ```
///
/// # What can stand in it
///
/// | statement | meaning |
/// | --- | --- |
/// | `a -> b -> c;` | a chain of edges |
/// | `a -> b & c;` | a fork: both, in the same superstep |
/// | `b & c -> d;` | a join: `d` once, after both |
/// | `a -> b \| c;` | a route: the variants that `a` returns are named like the targets (`B`, `C`) |
/// | `a -> match { Retry => a, Ok => b & c, Stop => END };` | a route, spelled out; `true` and `false` work too |
/// | `plan -> each research -> gather;` | one run of `research` per item that `plan` returned, then `gather` once |
/// | `plan -> match { Found => each dig, Nothing => END };` | the same for a variant that carries a `Vec` |
/// | `catch fetch -> recover;` | where to go when `fetch` has failed for good |
/// | `defer report;` | runs when nothing else is active |
/// | `interrupt before publish;` | stops the run for a person before the node |
/// | `interrupt after draft if \|draft: &str\| draft.len() > 400;` | the same after it, where the guard says so; its parameters read keys, as those of a node do |
/// | `node polish = write;` | the same function under a second name |
/// | `node reply: Llm<EssayMessages> = Llm::new("…");` | a node value, which `WriteEssay::new().reply(..)` may override |
/// | `node reply: Llm<EssayMessages>;` | a node value that must be given there |
/// | `node review: ReviewEssay { in: \|draft: &str\| .., out: \|r: Review\| .. };` | another flow as a node |
/// | `node review: ReviewEssay { in: .., out: .., keep: thread };` | the same, whose state is kept as long as the thread lives instead of being fresh each time |
/// | `with fetch { retry: 3, timeout: 30s, idle: 5s };` | retries (one, or a list `[.., ..]`) and timeouts; they win over those on `#[node(..)]` |
/// | `with fetch { cache: 1h };` | how long a result stands for whoever reads the same, where the launch has a [cache](crate::cache) |
/// | `with fetch { id: "old_fetch" };` | its name in stored checkpoints, for a node that was renamed |
///
/// Nodes are paths: `START -> nodes::write`. `START` may be left out where one node has no edge into it, `END` where a node
/// has no edge out of it. Parentheses group: `a -> (b | c)`.
///
/// A node that several paths reach runs each time that one does. Where `catch dig -> recover; recover -> gather` is longer
/// than `plan -> each dig -> gather`, `gather` would run twice; `defer gather` lets it run once, after all of them.
///
/// # What it makes
///
/// A type of the flow's name, which implements [`Flow`](crate::Flow), with
///
/// * `WriteEssay::run(input)`, a [`Run`](crate::Run) to await;
/// * `WriteEssay::new()`, a [`Launch`](crate::Launch) with limits, managed values, middleware (or, for a flow with node values,
///   a builder `WriteEssayBuilder` that has a method for each of them besides, and `launch()` for the launch itself);
/// * `WriteEssay::topology()`, `::mermaid()`, `::dot()`.
///
/// Attributes and doc comments stand before the name, among them `#[flow(id = "…")]`, the flow's name in stored threads, and the diagram of the graph follows them in the documentation.
#[macro_export]
macro_rules! flow {
    ($($flow:tt)*) => {
        $crate::__private::flow_impl! { [$crate] $($flow)* }
    };
}

/// A [set](crate::tool::ToolSet) of tools, whose names are told apart while it compiles.
///
/// ```
/// use petalflow::prelude::*;
///
/// /// Searches the library.
/// #[tool]
/// fn search(query: String) -> String {
///     format!("a book about {query}")
/// }
///
/// /// Lends a book.
/// #[tool]
/// fn lend(title: String) -> String {
///     format!("{title}, for two weeks")
/// }
///
/// assert_eq!(tools![search, lend].len(), 2);
/// ```
///
/// Two tools of one name do not compile:
///
/// ```compile_fail,E0080
/// # use petalflow::prelude::*;
/// /// Searches the library.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// /// Searches the web.
/// #[tool(name = "search")]
/// fn search_web(query: String) -> String {
///     query
/// }
///
/// let tools = tools![search, search_web];
/// ```
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
#[macro_export]
macro_rules! tools {
    ($($tools:tt)*) => {
        $crate::__private::tools_impl! { [$crate] $($tools)* }
    };
}
