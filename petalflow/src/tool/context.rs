//! The context of a tool's call.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::{Actions, Confirmation, CredentialRequest};
use crate::error::BoxError;
use crate::event::CustomEvent;
use crate::node::{Context, Extract, ManagedValues, Scope};

/// The context of one call of a tool: its id, its run and its requests. Clones share the call.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::{Tool, ToolContext};
/// use serde_json::json;
///
/// /// Remembers what the user likes.
/// #[tool]
/// fn remember(what: String, cx: ToolContext) {
///     cx.set_state("likes", what);
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let cx = ToolContext::new("call-1");
/// remember {}.call(json!({ "what": "petals" }), &cx).await.unwrap();
/// assert_eq!(cx.take_actions().state_delta["likes"], "petals");
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ToolContext {
    /// The call's id.
    pub call_id: String,
    scope: Option<Scope>,
    state: Arc<Map<String, Value>>,
    confirmation: Option<Confirmation>,
    credential: Option<Value>,
    actions: Arc<Mutex<Actions>>,
    listener: Option<Arc<dyn Fn(CustomEvent) + Send + Sync>>,
    /// Whether something that belongs to the caller was read: its credential, its confirmation, its state or its run.
    read: Arc<AtomicBool>,
}

impl_debug!(
    ToolContext,
    |this| call_id = this.call_id,
    scope = this.scope
);

impl ToolContext {
    /// A call outside of a run.
    pub fn new(call_id: impl Into<String>) -> Self {
        ToolContext {
            call_id: call_id.into(),
            ..Self::default()
        }
    }

    /// A call outside of a run, with managed values for the tool's parameters.
    ///
    /// ```
    /// use petalflow::node::ManagedValues;
    /// use petalflow::prelude::*;
    /// use petalflow::tool::{Tool, ToolContext};
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// struct Library(u32);
    ///
    /// /// Counts the books.
    /// #[tool]
    /// fn count(library: Managed<Library>) -> u32 {
    ///     library.0
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut values = ManagedValues::default();
    /// values.insert(Arc::new(Library(7)));
    /// let cx = ToolContext::managing("1", values);
    /// assert_eq!(count {}.call(json!({}), &cx).await.unwrap(), 7);
    /// # }
    /// ```
    pub fn managing(call_id: impl Into<String>, values: impl Into<Arc<ManagedValues>>) -> Self {
        ToolContext {
            scope: Some(Scope::lone("tool", values.into())),
            ..Self::new(call_id)
        }
    }

    /// A call inside a node's run.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::tool::ToolContext;
    ///
    /// #[state]
    /// struct Talk {
    ///     answer: String,
    /// }
    ///
    /// #[node(Talk)]
    /// async fn act(cx: Context) -> TalkAnswer {
    ///     let call = ToolContext::within("call-1", cx);
    ///     TalkAnswer(call.context().unwrap().node().into())
    /// }
    ///
    /// flow!(Act(Talk) { act });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Act::run(()).await?.answer, "act");
    /// # Ok(())
    /// # }
    /// ```
    pub fn within(call_id: impl Into<String>, run: impl Into<Scope>) -> Self {
        ToolContext {
            scope: Some(run.into()),
            ..Self::new(call_id)
        }
    }

    /// Sets the session state of the call.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    /// use serde_json::{Map, json};
    ///
    /// let state = Map::from_iter([("name".to_string(), json!("Ada"))]);
    /// let cx = ToolContext::new("1").with_state(state);
    /// assert_eq!(cx.state("name"), Some(json!("Ada")));
    /// cx.set_state("name", "Grace");
    /// assert_eq!(cx.state("name"), Some(json!("Grace")));
    /// ```
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Arc<Map<String, Value>>>) -> Self {
        self.state = state.into();
        self
    }

    /// Sets a person's answer to a confirmation request.
    ///
    /// ```
    /// use petalflow::tool::{Confirmation, ToolContext};
    ///
    /// let yes = Confirmation { confirmed: true, ..Confirmation::default() };
    /// let cx = ToolContext::new("1").with_confirmation(yes);
    /// assert!(cx.confirmation().is_some_and(|answer| answer.confirmed));
    /// ```
    #[must_use]
    pub fn with_confirmation(mut self, answer: Confirmation) -> Self {
        self.confirmation = Some(answer);
        self
    }

    /// Sets the credential that was requested.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    ///
    /// let cx = ToolContext::new("1").with_credential("token");
    /// assert_eq!(cx.credential().unwrap(), "token");
    /// ```
    #[must_use]
    pub fn with_credential(mut self, credential: impl Into<Value>) -> Self {
        self.credential = Some(credential.into());
        self
    }

    /// The scope of the node that calls the tool, if any.
    ///
    /// ```
    /// let cx = petalflow::tool::ToolContext::new("call-1");
    /// assert!(cx.scope().is_none(), "it was made outside any run");
    /// ```
    pub fn scope(&self) -> Option<&Scope> {
        self.mark_read();
        self.scope.as_ref()
    }

    /// The [`Context`] of the node that calls the tool, if any: to ask a person, to run an effect once, to take managed
    /// values.
    pub fn context(&self) -> Option<Context> {
        self.mark_read();
        self.scope.as_ref().map(Scope::context)
    }

    /// Takes a value from the run, like a parameter of the tool.
    ///
    /// # Errors
    ///
    /// Fails if the call is outside of a run, or if the run does not have the value.
    ///
    /// ```
    /// use petalflow::Managed;
    /// use petalflow::tool::ToolContext;
    ///
    /// let error = ToolContext::new("1").extract::<Managed<u32>>().unwrap_err();
    /// assert!(error.to_string().contains("the call is in no run"));
    /// ```
    pub fn extract<T: Extract>(&self) -> Result<T, BoxError> {
        self.mark_read();
        match &self.scope {
            Some(scope) => T::extract(scope),
            None => Err(format!(
                "`{}` comes from a run, and the call is in no run: call the tool in a node, with `ToolContext::within`",
                std::any::type_name::<T>()
            )
            .into()),
        }
    }

    /// Sends the call's events to a function instead of the run's listener.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    /// use std::sync::{Arc, Mutex};
    ///
    /// let events = Arc::new(Mutex::new(Vec::new()));
    /// let queue = events.clone();
    /// let cx = ToolContext::new("1").with_listener(move |event| queue.lock().unwrap().push(event));
    /// cx.emit("half done");
    /// assert_eq!(events.lock().unwrap()[0].downcast_ref::<&str>(), Some(&"half done"));
    /// ```
    #[must_use]
    pub fn with_listener(mut self, listener: impl Fn(CustomEvent) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Emits a value to the listener of the run's events. Outside of a run there is none, and the value is dropped.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    ///
    /// ToolContext::new("1").emit("half done");
    /// ```
    pub fn emit(&self, value: impl Into<CustomEvent>) {
        match (&self.listener, &self.scope) {
            (Some(listener), _) => listener(value.into()),
            (None, Some(scope)) => scope.context().emit(value),
            (None, None) => {}
        }
    }

    /// A value of the session's state, with the changes of this call.
    pub fn state(&self, key: &str) -> Option<Value> {
        self.mark_read();
        let changed = self.requests().state_delta.get(key).cloned();
        changed.or_else(|| self.state.get(key).cloned())
    }

    /// The keys of the session's state, with those that this call has added, in order.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    /// use serde_json::{Map, json};
    ///
    /// let cx = ToolContext::new("1").with_state(Map::from_iter([("name".to_string(), json!("Ada"))]));
    /// cx.set_state("city", "London");
    /// assert_eq!(cx.state_keys(), ["city", "name"]);
    /// ```
    pub fn state_keys(&self) -> Vec<String> {
        self.mark_read();
        let changed = self.requests();
        let keys = self.state.keys().chain(changed.state_delta.keys());
        let keys: BTreeSet<&String> = keys.collect();
        keys.into_iter().cloned().collect()
    }

    /// Changes a value of the session's state.
    pub fn set_state(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.requests().state_delta.insert(key.into(), value.into());
    }

    /// The answer to [`request_confirmation`](Self::request_confirmation), or for a tool with `confirm`.
    pub fn confirmation(&self) -> Option<&Confirmation> {
        self.mark_read();
        self.confirmation.as_ref()
    }

    /// Requests a person's confirmation. The tool returns and is called again with the answer, in
    /// [`confirmation`](Self::confirmation).
    ///
    /// ```
    /// use petalflow::tool::{Confirmation, ToolContext};
    ///
    /// let cx = ToolContext::new("call-1");
    /// cx.request_confirmation(Confirmation::ask("delete all books?"));
    /// assert_eq!(cx.actions().requested_confirmations["call-1"].hint, "delete all books?");
    /// ```
    pub fn request_confirmation(&self, question: Confirmation) {
        let id = self.call_id.clone();
        self.requests().requested_confirmations.insert(id, question);
    }

    /// The credential that was given after [`request_credential`](Self::request_credential).
    pub fn credential(&self) -> Option<&Value> {
        self.mark_read();
        self.credential.as_ref()
    }

    /// Requests a credential. The tool returns and is called again with it, in [`credential`](Self::credential). The
    /// agent's turn ends in between, and no model receives the credential.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::tool::{CredentialRequest, Tool, ToolContext};
    /// use serde_json::json;
    ///
    /// /// What is to be done on a day.
    /// #[tool]
    /// fn calendar(day: String, cx: ToolContext) -> petalflow::Result<String> {
    ///     let Some(token) = cx.credential() else {
    ///         cx.request_credential(CredentialRequest::oauth2("calendar", "https://accounts.example/authorize"));
    ///         return Err("waits until the user has signed in".into());
    ///     };
    ///     Ok(format!("{day}, as {token} sees it: nothing"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cx = ToolContext::new("call-1");
    /// calendar {}.call(json!({ "day": "Monday" }), &cx).await.unwrap_err();
    /// assert_eq!(cx.actions().requested_credentials["call-1"].key, "calendar");
    ///
    /// let cx = ToolContext::new("call-1").with_credential("ann");
    /// assert!(calendar {}.call(json!({ "day": "Monday" }), &cx).await.is_ok());
    /// # }
    /// ```
    pub fn request_credential(&self, request: CredentialRequest) {
        let id = self.call_id.clone();
        self.requests().requested_credentials.insert(id, request);
    }

    /// The requests of the call. Use the guard in one expression only: it is a lock on the call's requests.
    ///
    /// ```
    /// use petalflow::tool::ToolContext;
    ///
    /// let cx = ToolContext::new("1");
    /// cx.actions().skip_summarization = true;
    /// assert!(cx.take_actions().skip_summarization);
    /// assert!(cx.actions().is_empty());
    /// ```
    pub fn actions(&self) -> MutexGuard<'_, Actions> {
        self.mark_read();
        self.requests()
    }

    /// Takes the requests of the call, after it.
    pub fn take_actions(&self) -> Actions {
        std::mem::take(&mut *self.requests())
    }

    /// The requests of the call, for layers that do not let the tool's result depend on them.
    pub(super) fn requests(&self) -> MutexGuard<'_, Actions> {
        self.actions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same call, with its own mark for [`was_read`](Self::was_read).
    pub(super) fn unread(&self) -> Self {
        ToolContext {
            read: Arc::default(),
            ..self.clone()
        }
    }

    /// Whether something that belongs to the caller was read since [`unread`](Self::unread).
    pub(super) fn was_read(&self) -> bool {
        self.read.load(Ordering::Relaxed)
    }

    pub(super) fn mark_read(&self) {
        self.read.store(true, Ordering::Relaxed);
    }
}
