//! From a trait with one method per function to the tools and handlers of a conversation.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow::tool::{FuncTool, ToolArgument, ToolContext, ToolSpec, schema};
use petalflow_document_model::conversations::{
    Checked, Conversation, Function as Described, Handler, Source, check,
};
use serde_json::{Value, json};

use super::{Argument, Misfit};
use crate::{ActionCall, ConversationBuilder, ConversationFlow};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A method as a function of the document: it reads its arguments, and borrows the handlers.
///
/// It has no type of its arguments, so the compiler makes nothing else for each function.
type Call<H> = for<'a> fn(&'a H, Value, &'a ToolContext) -> BoxFuture<'a, Result<Value, BoxError>>;

/// A method whose arguments are a type of the program.
type OwnCall<H, A> =
    for<'a> fn(&'a H, A, &'a ToolContext) -> BoxFuture<'a, Result<Value, BoxError>>;

/// A method as the handler of an action.
type Act<H> = for<'a> fn(&'a H, ActionCall) -> BoxFuture<'a, Result<(), BoxError>>;

/// The code of a function.
#[expect(
    missing_debug_implementations,
    reason = "only generated code has it, for a moment"
)]
pub struct Function<H>(Made<H>);

enum Made<H> {
    /// The document describes the arguments.
    Described(&'static str, Call<H>),
    Own(Box<dyn FnOnce(Arc<H>) -> FuncTool>),
}

impl<H: Send + Sync + 'static> Function<H> {
    fn tool(self, handlers: Arc<H>) -> FuncTool {
        let (name, call) = match self.0 {
            Made::Described(name, call) => (name, call),
            Made::Own(make) => return make(handlers),
        };
        // The document has the description and the schema.
        let spec = ToolSpec::new(name, "", json!({ "type": "object" }));
        FuncTool::untyped(spec, move |arguments, cx| {
            let handlers = Arc::clone(&handlers);
            async move { call(&handlers, arguments, &cx).await }
        })
    }
}

/// The code of an action.
#[expect(
    missing_debug_implementations,
    reason = "only generated code has it, for a moment"
)]
pub struct Action<H>(&'static str, Act<H>);

/// A function whose arguments the document describes.
pub fn function<H>(name: &'static str, call: Call<H>) -> Function<H> {
    Function(Made::Described(name, call))
}

/// Reads the arguments of a function.
///
/// # Errors
///
/// They do not fit the type.
pub fn arguments<A: Argument>(value: Value) -> Result<A, Misfit> {
    A::read(value)
}

/// The result of a call whose arguments do not fit.
pub fn refused<'a>(misfit: Misfit) -> BoxFuture<'a, Result<Value, BoxError>> {
    Box::pin(ready(Err(misfit.into())))
}

/// A function whose arguments are a type of the program.
pub fn own<H, A>(name: &'static str, call: OwnCall<H, A>) -> Function<H>
where
    H: Send + Sync + 'static,
    A: ToolArgument + 'static,
{
    Function(Made::Own(Box::new(move |handlers| {
        let schema = schema::of::<A>();
        let description = schema.get("description").and_then(Value::as_str);
        let description = description.unwrap_or_default().to_owned();
        FuncTool::with_context(name, description, move |arguments: A, cx| {
            let handlers = Arc::clone(&handlers);
            async move { call(&handlers, arguments, &cx).await }
        })
    })))
}

/// The code of an action.
pub fn action<H>(name: &'static str, act: Act<H>) -> Action<H> {
    Action(name, act)
}

/// A future in a box.
pub fn boxed<'a, F>(future: F) -> BoxFuture<'a, F::Output>
where
    F: Future + Send + 'a,
{
    Box::pin(future)
}

/// Makes the result of a method a value.
pub fn done<'a, T, F>(future: F, finish: fn(T) -> Value) -> BoxFuture<'a, Result<Value, BoxError>>
where
    F: Future<Output = Result<T, BoxError>> + Send + 'a,
    T: 'a,
{
    finished(Box::pin(future), finish)
}

/// Once for each type of results, and not for each method.
fn finished<'a, T: 'a>(
    future: BoxFuture<'a, Result<T, BoxError>>,
    finish: fn(T) -> Value,
) -> BoxFuture<'a, Result<Value, BoxError>> {
    Box::pin(async move { future.await.map(finish) })
}

/// Starts to build a conversation from a document that was checked while the program was compiled.
///
/// # Panics
///
/// The document has an error. The compiler has refused it then.
pub fn builder<H: Send + Sync + 'static>(
    (file, text, included): (&str, &str, &[(&str, &str)]),
    handlers: H,
    functions: &[fn() -> Vec<Function<H>>],
    actions: impl IntoIterator<Item = Action<H>>,
    renamed: &[(&str, &str, &str)],
) -> ConversationBuilder {
    let Checked {
        mut conversation, ..
    } = match check(&Source::new(file, text).including(included.iter().copied())) {
        Ok(checked) => checked,
        Err(errors) => {
            panic!("the compiler has accepted the document, and now it has errors:\n{errors}")
        }
    };
    for (node, function, handler) in renamed {
        rename(&mut conversation, node, function, handler);
    }
    let handlers = Arc::new(handlers);
    let mut builder = ConversationFlow::builder(conversation);
    for function in functions.iter().flat_map(|part| part()) {
        builder = builder.tool(function.tool(Arc::clone(&handlers)));
    }
    for Action(name, act) in actions {
        let handlers = Arc::clone(&handlers);
        builder = builder.action(name, move |call| {
            let handlers = Arc::clone(&handlers);
            async move { act(&handlers, call).await }
        });
    }
    builder
}

/// Functions of the same name that have code of their own at each node.
fn rename(conversation: &mut Conversation, node: &str, function: &str, handler: &str) {
    let functions: &mut Vec<Described> = match conversation.nodes.get_mut(node) {
        Some(node) => &mut node.functions,
        None => &mut conversation.global_functions,
    };
    for it in functions.iter_mut().filter(|it| it.name == function) {
        it.handler = Handler::Named(handler.into());
    }
}
