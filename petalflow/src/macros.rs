//! The function-like macros.

/// Declares a flow: a graph of nodes over a state, which is checked at compile time.
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
///     /// Drafts an essay and revises it until the critic accepts it.
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
/// # Statements
///
/// | statement | meaning |
/// | --- | --- |
/// | `a -> b -> c;` | a chain of edges |
/// | `a -> b & c;` | a fork: both nodes run in the same superstep |
/// | `b & c -> d;` | a join: `d` runs once, after both |
/// | `a -> b \| c;` | routes: the variants that `a` returns have the names of the targets (`B`, `C`) |
/// | `a -> match { Retry => a, Ok => b & c, Stop => END };` | routes with their names; `true` and `false` if `a` returns a `bool` |
/// | `plan -> each research -> gather;` | `research` runs once per item that `plan` returns, then `gather` runs once |
/// | `plan -> match { Found => each dig, Nothing => END };` | the same for a variant that carries a `Vec` |
/// | `catch fetch -> recover;` | `recover` runs if all attempts of `fetch` fail |
/// | `defer report;` | `report` runs when no other node is active |
/// | `interrupt before publish;` | the run stops before the node, until a person approves |
/// | `interrupt after draft if \|draft: &str\| draft.len() > 400;` | the run stops after the node if the guard returns true. The parameters of the guard read keys, as those of a node |
/// | `node polish = write;` | a second node with the same function |
/// | `node reply: Llm<EssayMessages> = Llm::new("…");` | a node value with a default; `WriteEssay::new().reply(..)` replaces it |
/// | `node reply: Llm<EssayMessages>;` | a node value without a default, which `WriteEssay::new().reply(..)` must set |
/// | `node review: ReviewEssay { in: \|draft: &str\| .., out: \|r: Review\| .. };` | another flow as a node |
/// | `node review: ReviewEssay { in: \|#[item] part: &Part, topic: &str\| .., out: .. };` | a sub-flow that takes an item, as the target of `each` or of a route with a payload: it runs once per item |
/// | `node review: ReviewEssay { in: .., out: .., values: \|flow\| flow.model(..) };` | the same, with node values of the sub-flow, which differ from its other uses. The closure gets `ReviewEssay::new()`; other settings than node values have no effect |
/// | `node review: ReviewEssay { in: .., out: .., keep: thread };` | the same, but the thread retains the state of the sub-flow. Without `keep` the state is new each time |
/// | `with fetch { retry: 3, timeout: 30s, idle: 5s };` | retries (one, or a list `[.., ..]`) and timeouts. They replace those of `#[node(..)]` |
/// | `with fetch { cache: 1h };` | how long a result is valid for the same values of the keys that the node reads, if the launch has a [cache](crate::cache) |
/// | `with fetch { remote: "crawlers" };` | the pool of processes that run the node, if an engine places nodes, as the crate `petalflow-restate` does. Other runs ignore it |
/// | `with fetch { id: "old_fetch" };` | the name of the node in stored checkpoints, for a node that was renamed |
///
/// Nodes are named by paths: `START -> nodes::write`. The edge from `START` can be left out if exactly one node has no edge into
/// it, and edges to `END` from nodes without an edge out of them. Parentheses group: `a -> (b | c)`.
///
/// If several paths lead to a node, it runs once for each superstep in which one of them arrives. In the flow
/// `plan -> each dig -> gather; catch dig -> recover; recover -> gather`, the path through `recover` is longer, so `gather` would
/// run twice. With `defer gather` it runs once, after all of them.
///
/// A flow can contain itself. At most 16 levels of flows can be inside each other, or as many as
/// [`Launch::max_depth`](crate::Launch::max_depth) allows: a deeper call is an error of its node, which no retry repeats.
///
/// # Generated items
///
/// A type with the name of the flow, which implements [`Flow`](crate::Flow), with
///
/// * `WriteEssay::run(input)`, a [`Run`](crate::Run) to await;
/// * `WriteEssay::new()`, a [`Launch`](crate::Launch) for limits, managed values and middleware. For a flow with node values it
///   is a builder `WriteEssayBuilder` instead: it also has a method for each node value, and `launch()` returns the launch;
/// * `WriteEssay::topology()`, `::mermaid()`, `::dot()`.
///
/// Attributes and doc comments are written before the name. `#[flow(id = "…")]` is the name of the flow in stored threads. The
/// documentation of the type shows the diagram of the graph.
#[macro_export]
macro_rules! flow {
    ($($flow:tt)*) => {
        $crate::flow::flow_impl! { [$crate] $($flow)* }
    };
}

/// A [set](crate::tool::ToolSet) of tools. Two tools with the same name are a compile error.
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
/// This does not compile:
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

/// Implements `Debug` with some of the fields: `impl_debug!([S: State] Edit<S>, |this| node = this.node)`.
macro_rules! impl_debug {
    ($([$($generics:tt)*])? $name:ident $(<$($argument:tt),*>)? $(, |$this:ident| $($field:ident = $value:expr),*)?) => {
        impl $(<$($generics)*>)? ::std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut fields = f.debug_struct(stringify!($name));
                $(
                    let $this = self;
                    $(fields.field(stringify!($field), &$value);)*
                )?
                fields.finish_non_exhaustive()
            }
        }
    };
}
