//! Bodies that are too large for a message of Restate. They are objects of an object store, and messages have their names.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use petalflow::engine::RecordsError;
use uuid::Uuid;

use crate::size_limit::{MAX_BYTES, too_large};

/// What a reference begins with. No body does: the bytes are no length, no time and no list.
const REFERENCE: [u8; 4] = [0xff; 4];

/// Where large bodies are: the state of a thread, the input of a placed node, what a node or a superstep has recorded. Restate takes
/// at most 32 MiB in a message. A larger body becomes an object of an object store, and Restate has its name.
///
/// Drivers, node hosts and clients of a flow get the same. An object is named after the service, the thread, its version and the
/// checksum of the body. Objects of earlier versions are deleted when the thread goes on, all of them when the thread is deleted.
/// What a stopped process has left behind is deleted with its thread too; give the objects no lifecycle rule of their own.
///
/// The [`object_store`] crate has stores for S3, Google Cloud Storage, Azure and folders.
///
/// ```
/// use std::sync::Arc;
/// use object_store::memory::InMemory;
/// use petalflow_restate::{Bodies, RestateFlow};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
///
/// // `InMemory` is for tests: each process has its own.
/// let bodies = Bodies::new(Arc::new(InMemory::new())).above(4 << 20);
/// let flow = RestateFlow::new(Write::new()).bodies(bodies);
/// # let _ = flow;
/// ```
#[derive(Clone, Debug)]
pub struct Bodies {
    store: Arc<dyn ObjectStore>,
    above: usize,
}

/// Why a body cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the object store cannot store or read a body: {0}")]
    Store(#[from] object_store::Error),
    #[error("a body is in an object store: give this process the same `RestateFlow::bodies`")]
    NoStore,
    #[error("the name of a body is damaged")]
    Damaged,
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl BodyError {
    /// Whether the object is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, BodyError::Store(object_store::Error::NotFound { .. }))
    }
}

impl Bodies {
    /// Bodies above 8 MiB are objects of this store.
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        let above = 8 << 20;
        Bodies { store, above }
    }

    /// Sets above how many bytes a body is an object. At most 31 MiB: the rest of a message is for what is around the body.
    #[must_use]
    pub fn above(mut self, bytes: usize) -> Self {
        self.above = bytes.min(MAX_BYTES);
        self
    }
}

/// The bodies of one incarnation of a thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadBodies {
    bodies: Option<Bodies>,
    folder: Path,
    /// The version that the objects are for.
    version: u64,
    /// Whether a body was an object.
    used: Arc<AtomicBool>,
}

impl ThreadBodies {
    /// Those of an incarnation. New objects are for this version.
    pub(crate) fn new(
        bodies: Option<&Bodies>,
        service: &str,
        thread: &str,
        incarnation: &str,
        version: u64,
    ) -> Self {
        ThreadBodies {
            bodies: bodies.cloned(),
            folder: Path::from_iter([service, thread, incarnation]),
            version,
            used: Arc::default(),
        }
    }

    /// Whether an object was stored or read.
    pub(crate) fn used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Why a body of so many bytes cannot be stored. `None` if it can.
    pub(crate) fn too_large(&self, what: &str, bytes: usize) -> Option<String> {
        match self.bodies {
            Some(_) => None,
            None => too_large(what, bytes),
        }
    }

    /// The body as a message has it: itself, or the name of an object.
    pub(crate) async fn put(&self, body: Vec<u8>) -> Result<Vec<u8>, BodyError> {
        let Some(Bodies { store, above }) = &self.bodies else {
            return Ok(body);
        };
        if body.len() <= *above {
            return Ok(body);
        }
        self.used.store(true, Ordering::Relaxed);
        // A handler that is replayed stores the same object again.
        let name = Uuid::new_v5(&Uuid::NAMESPACE_OID, &body).simple();
        let path = self.folder.clone().join(self.version.to_string());
        let path = path.join(name.to_string());
        store.put(&path, body.into()).await?;
        Ok([&REFERENCE, path.as_ref().as_bytes()].concat())
    }

    /// The body that a message has.
    pub(crate) async fn get<'b>(&self, body: &'b [u8]) -> Result<Cow<'b, [u8]>, BodyError> {
        let Some(path) = body.strip_prefix(&REFERENCE) else {
            return Ok(Cow::Borrowed(body));
        };
        self.used.store(true, Ordering::Relaxed);
        let Bodies { store, .. } = self.bodies.as_ref().ok_or(BodyError::NoStore)?;
        let path = str::from_utf8(path).map_err(|_| BodyError::Damaged)?;
        let path = Path::parse(path).map_err(|_| BodyError::Damaged)?;
        let object = store.get(&path).await?.bytes().await?;
        Ok(Cow::Owned(object.into()))
    }

    /// Deletes the objects that are for versions before this one.
    pub(crate) async fn delete_before(&self, version: u64) -> Result<(), BodyError> {
        self.delete(move |of| of < version).await
    }

    /// Deletes all objects.
    pub(crate) async fn delete_all(&self) -> Result<(), BodyError> {
        self.delete(|_| true).await
    }

    async fn delete(
        &self,
        is_old: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Result<(), BodyError> {
        let Some(Bodies { store, .. }) = &self.bodies else {
            return Ok(());
        };
        let folder = self.folder.clone();
        let objects = store.list(Some(&self.folder));
        let old = objects.try_filter_map(move |object| {
            let mut parts = object.location.prefix_match(&folder).into_iter().flatten();
            let version = parts.next().and_then(|part| part.as_ref().parse().ok());
            let is_old = version.is_some_and(&is_old);
            drop(parts);
            std::future::ready(Ok(is_old.then_some(object.location)))
        });
        let mut deleted = store.delete_stream(old.boxed());
        while let Some(result) = deleted.next().await {
            match result {
                // Another process has deleted it.
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
