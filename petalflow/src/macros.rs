//! The function-like macros.

/// Declares a flow: a graph of nodes over a state, which the compiler checks.
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
/// | `a -> match { Retry => a, Ok => b & c, Stop => END };` | a route with a target for each variant; `true` and `false` work too |
/// | `plan -> each research -> gather;` | one run of `research` per item that `plan` returned, then `gather` once |
/// | `plan -> match { Found => each dig, Nothing => END };` | the same for a variant that carries a `Vec` |
/// | `catch fetch -> recover;` | an edge for the failure of `fetch`, after its retries |
/// | `defer report;` | runs `report` when no other node is active |
/// | `interrupt before publish;` | stops the run before the node, for a person's decision |
/// | `interrupt after draft if \|draft: &str\| draft.len() > 400;` | stops the run after the node if the guard returns `true`; the guard's parameters read keys, like those of a node |
/// | `node polish = write;` | the same function under a second name |
/// | `node reply: Llm<EssayMessages> = Llm::new("…");` | a node value, which `WriteEssay::new().reply(..)` can override |
/// | `node reply: Llm<EssayMessages>;` | a node value that `WriteEssay::new().reply(..)` must set |
/// | `node review: ReviewEssay { in: \|draft: &str\| .., out: \|r: Review\| .. };` | another flow as a node |
/// | `node review: ReviewEssay { in: .., out: .., keep: thread };` | the same, with a state that is stored with the thread instead of a new one each time |
/// | `with fetch { retry: 3, timeout: 30s, idle: 5s };` | retries (one, or a list `[.., ..]`) and timeouts; they override those of `#[node(..)]` |
/// | `with fetch { cache: 1h };` | how long a result is reused for equal reads, if the launch has a [cache](crate::cache) |
/// | `with fetch { id: "old_fetch" };` | the node's name in stored checkpoints, for a node that was renamed |
///
/// Nodes are paths: `START -> nodes::write`. `START` can be omitted if exactly one node has no incoming edge, and `END`
/// if a node has no outgoing edge. Parentheses group: `a -> (b | c)`.
///
/// A node that several paths reach runs once for each path that reaches it in another superstep. If `catch dig ->
/// recover; recover -> gather` is longer than `plan -> each dig -> gather`, `gather` would run twice; with `defer
/// gather` it runs once, after both.
///
/// # What it makes
///
/// A type with the flow's name, which implements [`Flow`](crate::Flow) and has
///
/// * `WriteEssay::run(input)`, a [`Run`](crate::Run) to await;
/// * `WriteEssay::new()`, a [`Launch`](crate::Launch) with limits, managed values and middleware (for a flow with node
///   values, a builder `WriteEssayBuilder` with one more method per node value, and `launch()` for the launch itself);
/// * `WriteEssay::topology()`, `::mermaid()`, `::dot()`.
///
/// Attributes and doc comments come before the name. `#[flow(id = "…")]` sets the flow's name in stored threads. The
/// documentation of the type ends with a diagram of the graph.
#[macro_export]
macro_rules! flow {
    ($($flow:tt)*) => {
        $crate::__private::flow_impl! { [$crate] $($flow)* }
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
