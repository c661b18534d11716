//! `conversation!`.

/// Declares a conversation from a document, with its functions as a trait. The document is checked while the crate compiles, and
/// each mistake is an error with file, line, column and code. The crate is compiled again when the file changes.
///
/// What is probably not as the author wants is a warning of `rustc`. `#[allow(deprecated)]` in front of the name turns it off.
/// A document with an error is read as far as possible, so that names which it still has are no further errors.
///
/// The path is relative to the file with the macro, or else to the folder of the package. All forms of
/// [documents](crate::document) are read.
///
/// ```
/// use petalflow::Result;
/// use petalflow::tool::ToolContext;
/// use petalflow_conversations::conversation;
/// use petalflow_llm::{Reply, ScriptedModel};
/// use serde_json::json;
///
/// conversation! { pub TableTalk("tests/documents/table.json") }
///
/// use table_talk::{BookTable, BookTablePlace, BookTableResult, Handlers};
///
/// struct Host;
///
/// impl Handlers for Host {
///     async fn book_table(&self, arguments: BookTable, cx: &ToolContext) -> Result<BookTableResult> {
///         cx.set_state("guests", arguments.guests);
///         Ok(match arguments.place {
///             Some(BookTablePlace::Terrace) if arguments.guests > 4 => BookTableResult::Full,
///             _ => BookTableResult::Free,
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let model = ScriptedModel::new([
///     Reply::call("book_table", json!({ "guests": 5, "place": "terrace" })),
///     "The terrace is full.".into(),
/// ]);
/// let flow = TableTalk::builder(Host).model(model).build()?;
/// let state = flow.run("Five guests, outside.").await?;
/// assert_eq!(state.position.node.as_deref(), Some(table_talk::Node::Full.as_str()));
/// # Ok(())
/// # }
/// ```
///
/// # What is made
///
/// `pub TableTalk(..)` makes the type `TableTalk` and the module `table_talk`:
///
/// | item | what it is |
/// | --- | --- |
/// | `TableTalk::builder` | takes the handlers and returns a [`ConversationBuilder`](crate::ConversationBuilder). Without functions and actions that need code it takes nothing |
/// | `TableTalk::SOURCE`, `TableTalk::WARNINGS` | the text of the document, and what is probably not as its author wants |
/// | `table_talk::Handlers` | the trait, with one method for each function and one for each action that needs code |
/// | `table_talk::BookTable` | the arguments of the function `book_table`: a field for each property, an `Option` if it is not `required`, an enum for an `enum` of texts, a struct for an object with properties. It is `Serialize` |
/// | `table_talk::BookTableResult` | the result, if it chooses the next node by words |
/// | `table_talk::Node` | the nodes |
///
/// A call whose arguments do not fit the schema, with its ranges, lengths and patterns, is an error that the model reads.
/// The method is not called.
///
/// # Results
///
/// | the document | the method returns `Result` of |
/// | --- | --- |
/// | always the same node, or none | any [`Value`](serde_json::Value); `null` says that the call was received |
/// | `transition_to` with a field and cases | [`BranchResult`](crate::BranchResult): of `bool` for `true` and `false`, otherwise of an enum of the cases |
/// | a decision that compares with words | an enum of the words, and `Other` |
/// | a decision that compares with truth values, or numbers | `bool`, or `f64` |
/// | another decision | any `Value` |
///
/// # Functions that the document does not describe
///
/// A declarative document has no parameters. For its function `set_age`, the trait has an associated type `SetAge`: the
/// arguments, which are `Deserialize` and `JsonSchema`. The model reads the doc comment of the type as the description.
///
/// # Names
///
/// Functions and properties get names in the style of Rust: `getOrder` is `get_order`. A keyword gets an underscore:
/// `type_`. Variants whose names would be the same, or have no letter, are numbered: `Value2`. Functions and properties
/// whose names would be the same are an error.
///
/// Functions of the same name at several nodes are one method if their arguments and results have the same types.
/// Otherwise there is a method for each, with the name of the node before it: `full_choose` and `confirm_choose`. An action
/// whose name is that of a function gets `_action` behind it.
///
/// This document has a function that leads to a node that does not exist:
///
/// ```compile_fail
/// petalflow_conversations::conversation! { Wrong("tests/documents/wrong.json") }
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "macros")))]
#[macro_export]
macro_rules! conversation {
    ($($conversation:tt)*) => {
        $crate::__private::conversation_impl! { [$crate] $($conversation)* }
    };
}
