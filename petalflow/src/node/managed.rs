//! The managed values of a run.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use crate::error::BoxError;
use crate::future::BoxFuture;

pub(super) type Shared = Arc<dyn Any + Send + Sync>;

/// Provides the value of one type, when a node takes it.
pub(super) trait Provide: Send + Sync {
    fn value(&self) -> Shared;

    fn is_per_run(&self) -> bool;

    /// A provider for one run, if values are per run.
    fn for_run(&self) -> Option<Arc<dyn Provide>>;
}

/// Makes a value for a run of a thread.
pub(super) type MakeForThread<T> =
    dyn Fn(RestoreContext) -> BoxFuture<'static, Result<T, BoxError>> + Send + Sync;

type Make = dyn Fn(RestoreContext) -> BoxFuture<'static, Result<Shared, BoxError>> + Send + Sync;

/// The managed values of a run, by type.
///
/// ```
/// use petalflow::node::ManagedValues;
/// use std::sync::Arc;
///
/// let mut values = ManagedValues::default();
/// values.insert(Arc::new(7_u32));
/// assert_eq!(values.get::<u32>().as_deref(), Some(&7));
/// assert!(!values.has::<String>());
/// ```
#[derive(Clone, Default)]
pub struct ManagedValues {
    /// One per type. A list, because a run has few of them.
    slots: Vec<(TypeId, Slot)>,
    /// Whether a provider creates one value per run.
    per_run: bool,
}

#[derive(Clone)]
enum Slot {
    Value(Shared),
    Provided(Arc<dyn Provide>),
    /// No value; created when a run of a thread begins. The name is the type's, for errors.
    Absent(&'static str, Arc<Make>),
}

impl fmt::Debug for ManagedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManagedValues")
            .field(&self.slots.len())
            .finish()
    }
}

impl ManagedValues {
    /// Adds a value and replaces one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.set(TypeId::of::<T>(), Slot::Value(value));
    }

    fn set(&mut self, id: TypeId, slot: Slot) {
        match self.slots.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = slot,
            None => self.slots.push((id, slot)),
        }
    }

    fn slot(&self, id: TypeId) -> Option<&Slot> {
        let (_, slot) = self.slots.iter().find(|(known, _)| *known == id)?;
        Some(slot)
    }

    /// Adds a provider and replaces what provides the same type.
    pub(super) fn provide<T: 'static>(&mut self, provider: Arc<dyn Provide>) {
        self.per_run |= provider.is_per_run();
        self.set(TypeId::of::<T>(), Slot::Provided(provider));
    }

    /// Adds a function that makes the value for runs of threads, unless there is a value of this type.
    pub(super) fn make_for_thread<T: Send + Sync + 'static>(
        &mut self,
        make: Arc<MakeForThread<T>>,
    ) {
        let id = TypeId::of::<T>();
        if self.slot(id).is_some() {
            return;
        }
        let make = move |cx| -> BoxFuture<'static, _> {
            let made = make(cx);
            Box::pin(async move { Ok(Arc::new(made.await?) as Shared) })
        };
        self.set(id, Slot::Absent(type_name::<T>(), Arc::new(make)));
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = match self.slot(TypeId::of::<T>())? {
            Slot::Value(value) => Arc::clone(value),
            Slot::Provided(provided) => provided.value(),
            Slot::Absent(..) => return None,
        };
        value.downcast().ok()
    }

    /// Whether there is a value of this type.
    pub fn has<T: 'static>(&self) -> bool {
        let slot = self.slot(TypeId::of::<T>());
        slot.is_some_and(|slot| !matches!(slot, Slot::Absent(..)))
    }

    /// These values for one run, and those of its parent flow that have other types.
    pub(crate) fn above(&self, parent: Option<&Arc<Self>>) -> Arc<Self> {
        let mut values = self.for_run().unwrap_or_else(|| self.clone());
        for (id, slot) in parent.iter().flat_map(|parent| &parent.slots) {
            if matches!(values.slot(*id), None | Some(Slot::Absent(..))) {
                values.set(*id, slot.clone());
            }
        }
        Arc::new(values)
    }

    /// The values for one run, if they differ between runs.
    pub(crate) fn for_run(&self) -> Option<Self> {
        if !self.per_run {
            return None;
        }
        let mut values = self.clone();
        values.per_run = false;
        for (_, slot) in &mut values.slots {
            if let Slot::Provided(provided) = slot
                && let Some(own) = provided.for_run()
            {
                *provided = own;
            }
        }
        Some(values)
    }

    /// Whether a value of the type with this name can be created for a thread's run.
    pub(crate) fn makes(&self, name: &str) -> bool {
        self.absent().any(|(_, known, _)| known == name)
    }

    fn absent(&self) -> impl Iterator<Item = (TypeId, &'static str, &Arc<Make>)> {
        self.slots.iter().filter_map(|(id, slot)| match slot {
            Slot::Absent(name, make) => Some((*id, *name, make)),
            _ => None,
        })
    }

    /// Creates the missing values for a thread's run, in the order of their names.
    ///
    /// # Errors
    ///
    /// The name of the type whose value could not be created, and the error.
    pub(crate) async fn restored(
        this: &Arc<Self>,
        thread: &Arc<str>,
    ) -> Result<Arc<Self>, (&'static str, BoxError)> {
        let mut absent: Vec<_> = this.absent().collect();
        if absent.is_empty() {
            return Ok(Arc::clone(this));
        }
        absent.sort_unstable_by_key(|(_, name, _)| *name);
        let mut values = Self::clone(this);
        for (id, name, make) in absent {
            let cx = RestoreContext {
                thread: Arc::clone(thread),
                values: Arc::clone(this),
            };
            let value = make(cx).await.map_err(|error| (name, error))?;
            values.set(id, Slot::Value(value));
        }
        Ok(Arc::new(values))
    }
}

/// The context in which a managed value is created: see
/// [`ManagedProvider::for_thread`](super::ManagedProvider::for_thread).
///
/// ```
/// use petalflow::node::{ManagedProvider, RestoreContext};
/// use petalflow::BoxError;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Log { #[key(append)] lines: Vec<String> }
/// /// The person of a thread; created whenever the thread begins or resumes.
/// struct Session { person: String }
///
/// #[node(Log)]
/// async fn greet(session: Managed<Session>) -> LogLines {
///     LogLines(vec![format!("hello {}", session.person)])
/// }
///
/// flow!(Greet(Log) { greet });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let launch = Greet::new().manage_with(ManagedProvider::for_thread(|of: RestoreContext| async move {
///     Ok::<_, BoxError>(Session { person: of.thread().to_string() })
/// }));
/// let thread = launch.store(&InMemoryStore::new()).thread("ann");
/// assert_eq!(thread.run(()).await?.into_finished()?.lines, ["hello ann"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RestoreContext {
    thread: Arc<str>,
    values: Arc<ManagedValues>,
}

impl RestoreContext {
    /// The id of the thread.
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// A managed value of the launch.
    pub fn managed<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.values.get()
    }
}
