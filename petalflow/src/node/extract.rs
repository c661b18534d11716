//! The by-value parameters of nodes.

use std::any::{TypeId, type_name};
use std::sync::Arc;

use super::{Context, ManagedValues, Scope};
use crate::error::BoxError;
use crate::state::ThreadSafe;

/// A by-value parameter of a node, which the run provides.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::node::{Extract, Scope};
/// use petalflow::BoxError;
///
/// /// The number of the superstep.
/// struct Superstep(u64);
///
/// impl Extract for Superstep {
///     fn extract(scope: &Scope) -> Result<Self, BoxError> {
///         Ok(Superstep(scope.superstep()))
///     }
/// }
///
/// #[state]
/// struct Clock {
///     ticks: u64,
/// }
///
/// #[node(Clock)]
/// async fn tick(superstep: Superstep) -> ClockTicks {
///     ClockTicks(superstep.0)
/// }
///
/// flow!(Tick(Clock) { tick });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Tick::run(()).await?.ticks, 1);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a node cannot take a `{Self}` by value",
    label = "not something that the run can hand over",
    note = "to read the key of this name, take a reference: `&{Self}`",
    note = "`Context` and `Managed<T>` come by value, and any type that implements `petalflow::node::Extract`"
)]
pub trait Extract: Sized {
    /// Takes the value from the run.
    ///
    /// # Errors
    ///
    /// Fails if the run does not have the value. The node then fails with this error.
    fn extract(scope: &Scope) -> Result<Self, BoxError>;

    /// Adds what the run must have, so that missing values are reported before the first node runs.
    fn require(requirements: &mut Requirements<'_>) {
        let _ = requirements;
    }
}

#[diagnostic::do_not_recommend]
impl Extract for Context {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        Ok(scope.context())
    }
}

/// A value that the caller provides to the run, such as a database pool: set with `manage`, taken by nodes by value,
/// not part of the state.
///
/// ```
/// use petalflow::prelude::*;
///
/// struct Dictionary(&'static str);
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(words: Managed<Dictionary>) -> EssayDraft {
///     EssayDraft(words.0.to_string())
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let essay = Write::new().manage(Dictionary("petal")).run(()).await?;
/// assert_eq!(essay.draft, "petal");
///
/// let error = Write::run(()).await.err().unwrap();
/// assert!(error.to_string().contains("Dictionary"));
/// # Ok(())
/// # }
/// ```
pub struct Managed<T: ?Sized>(Arc<T>);

impl<T> Managed<T> {
    /// The shared value, for a task that outlives the node.
    ///
    /// ```
    /// use petalflow::Managed;
    ///
    /// let managed = Managed::new("petal".to_string());
    /// assert_eq!(*managed.into_arc(), "petal");
    /// ```
    pub fn into_arc(self) -> Arc<T> {
        self.0
    }

    /// Wraps a value, to call a node as a function.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// struct Dictionary(&'static str);
    ///
    /// #[node(Essay)]
    /// async fn write(words: Managed<Dictionary>) -> EssayDraft {
    ///     EssayDraft(words.0.to_string())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// // In a test of the node:
    /// assert_eq!(write(Managed::new(Dictionary("petal"))).await.0, "petal");
    /// # }
    /// ```
    pub fn new(value: T) -> Self {
        Managed(Arc::new(value))
    }
}

impl<T: ?Sized> Clone for Managed<T> {
    fn clone(&self) -> Self {
        Managed(Arc::clone(&self.0))
    }
}

impl<T: std::fmt::Debug + ?Sized> std::fmt::Debug for Managed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Managed").field(&self.0).finish()
    }
}

impl<T: ?Sized> std::ops::Deref for Managed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ThreadSafe> Extract for Managed<T> {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        let value = scope.managed().and_then(ManagedValues::get::<T>);
        value.map(Managed).ok_or_else(|| {
            format!(
                "the run has no managed `{}`: give it one with `.manage(..)`",
                type_name::<T>()
            )
            .into()
        })
    }

    fn require(requirements: &mut Requirements<'_>) {
        requirements.managed::<T>();
    }
}

/// Collects the requirements of a flow's nodes that the run does not meet.
///
/// ```
/// use petalflow::node::{Extract, ManagedValues, Requirements, Scope};
/// use petalflow::BoxError;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { reply: String }
///
/// struct ApiKey(String);
///
/// /// A client that is made from a managed key.
/// struct Client(String);
///
/// impl Extract for Client {
///     fn extract(scope: &Scope) -> Result<Self, BoxError> {
///         let key = scope.managed().and_then(ManagedValues::get::<ApiKey>).ok_or("no key")?;
///         Ok(Client(key.0.clone()))
///     }
///
///     // Without a key the run fails before its first node, rather than here.
///     fn require(requirements: &mut Requirements<'_>) {
///         requirements.managed::<ApiKey>();
///     }
/// }
///
/// #[node(Chat)]
/// async fn ask(client: Client) -> ChatReply {
///     ChatReply(format!("asked with {}", client.0))
/// }
///
/// flow!(Ask(Chat) { ask });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let chat = Ask::new().manage(ApiKey("k-1".into())).run(()).await?;
/// assert_eq!(chat.reply, "asked with k-1");
/// assert!(Ask::run(()).await.err().unwrap().to_string().contains("ApiKey"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Requirements<'a> {
    managed: Option<&'a ManagedValues>,
    missing: Vec<&'static str>,
    /// The flows that were already visited: a flow can contain itself.
    entered: Vec<TypeId>,
}

impl<'a> Requirements<'a> {
    /// What the run of this context does not have, of what is required in the following.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::node::Requirements;
    /// use petalflow::tool::Tool;
    ///
    /// struct Dictionary;
    ///
    /// /// Looks a word up.
    /// #[tool]
    /// fn look_up(word: String, #[run] dictionary: Managed<Dictionary>) -> String {
    ///     word
    /// }
    ///
    /// let test = Context::test();
    /// let cx = test.context();
    /// let mut requirements = Requirements::of(&cx);
    /// look_up {}.require(&mut requirements);
    /// assert!(requirements.missing()[0].ends_with("Dictionary"));
    /// ```
    pub fn of(cx: &'a Context) -> Self {
        Self::new(cx.0.managed())
    }

    /// The names of the types of the missing values, in the order of the requirements.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    /// Creates an empty collection.
    pub(crate) fn new(managed: Option<&'a ManagedValues>) -> Self {
        Requirements {
            managed,
            missing: Vec::new(),
            entered: Vec::new(),
        }
    }

    /// Requires a managed value of this type.
    pub fn managed<T: 'static>(&mut self) {
        let name = type_name::<T>();
        if !self.managed.is_some_and(ManagedValues::has::<T>) && !self.missing.contains(&name) {
            self.missing.push(name);
        }
    }

    /// Whether this flow was not visited before.
    pub(crate) fn enter<F: 'static>(&mut self) -> bool {
        let new = !self.entered.contains(&TypeId::of::<F>());
        if new {
            self.entered.push(TypeId::of::<F>());
        }
        new
    }

    /// The names of the missing values, in the order of the requirements.
    pub(crate) fn into_missing(self) -> Vec<&'static str> {
        self.missing
    }
}
