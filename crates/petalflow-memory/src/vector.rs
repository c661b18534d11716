//! Vector search.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::hash::Hasher;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::{
    Cursor, Entry, MemoryBackend, MemoryError, Namespace, Page, Query, SearchHit, VectorMemory,
};
use crate::entry::now_ms;
use petalflow::{BoxError, async_trait};

/// The default limit of a search.
pub(crate) const DEFAULT_LIMIT: usize = 10;

/// An embedding model: converts texts to vectors. Implemented for functions that take texts and return a future.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_memory::Embed;
///
/// fn embedder() -> impl Embed {
///     |texts: Vec<String>| async move {
///         // Ask an embedding model here.
///         Ok::<_, BoxError>(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
///     }
/// }
/// # let _ = embedder();
/// ```
#[async_trait]
pub trait Embed: Send + Sync + 'static {
    /// Returns one vector per text, in the same order. All vectors have the same length.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError>;
}

#[async_trait]
impl<F, R> Embed for F
where
    F: Fn(Vec<String>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<Vec<f32>>, BoxError>> + Send + 'static,
{
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
        self(texts).await
    }
}

/// A backend that adds vector search to another backend.
///
/// A search compares the text with every entry of the query. The vector of an entry is computed when the entry is
/// first searched or has changed, and is cached in the process. This suits thousands of entries. For millions,
/// implement [`VectorMemory`] for a database with a vector index.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_memory::{VectorIndex, InMemory, Memory};
///
/// /// One number per subject, in place of an embedding model.
/// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
///     let vector = |text: &String| ["tulip", "river"].map(|word| text.matches(word).count() as f32).to_vec();
///     Ok(texts.iter().map(vector).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(VectorIndex::new(InMemory::new(), embed));
/// memory.put("a", "tulips are sold in bunches").await?;
/// memory.put("b", "the river is high").await?;
///
/// let hits = memory.search("which tulip is red?", 1).await?;
/// assert_eq!(hits[0].entry.key, "a");
/// # Ok(())
/// # }
/// ```
pub struct VectorIndex<B, E> {
    backend: B,
    embed: E,
    text: fn(&Entry) -> String,
    known: Mutex<HashMap<Cursor, Known>>,
}

/// A cached vector, with the hash of the text that it was computed from, and the time at which its entry expires.
struct Known {
    text: u128,
    expires_ms: Option<u64>,
    vector: Arc<[f32]>,
}

impl<B: fmt::Debug, E> fmt::Debug for VectorIndex<B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorIndex")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

impl<B: MemoryBackend, E: Embed> VectorIndex<B, E> {
    /// Adds vector search to a backend, with this embedding model.
    pub fn new(backend: B, embed: E) -> Self {
        VectorIndex {
            backend,
            embed,
            text: plain_text,
            known: Mutex::default(),
        }
    }

    /// Sets the text of an entry that is searched. By default a text value as it is, and any other value as JSON.
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow_memory::{VectorIndex, InMemory};
    ///
    /// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
    ///     // Ask an embedding model here.
    ///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
    /// }
    ///
    /// let memory = VectorIndex::new(InMemory::new(), embed).text(|entry| entry.value["title"].to_string());
    /// # let _ = memory;
    /// ```
    #[must_use]
    pub fn text(mut self, text: fn(&Entry) -> String) -> Self {
        self.text = text;
        self
    }

    /// Removes the vectors of entries that have expired. With `under`, also those of entries with this prefix that are not
    /// among these, which are all that the backend has.
    fn forget(&self, under: Option<&Namespace>, entries: &[Entry]) {
        let now = now_ms();
        let present: HashSet<(&Namespace, &str)> = match under {
            Some(_) => entries
                .iter()
                .map(|entry| (&entry.namespace, &*entry.key))
                .collect(),
            None => HashSet::new(),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|cursor, known| {
            let is_gone = under.is_some_and(|prefix| {
                cursor.namespace.starts_with(prefix)
                    && !present.contains(&(&cursor.namespace, &*cursor.key))
            });
            !is_gone && known.expires_ms.is_none_or(|at| at > now)
        });
    }

    /// Returns the vectors of a text and of entries. Computes those that are not cached.
    async fn vectors_of(
        &self,
        question: &str,
        entries: &[Entry],
    ) -> Result<(Vec<f32>, Vec<Arc<[f32]>>), MemoryError> {
        let texts: Vec<String> = entries.iter().map(self.text).collect();
        let hashes: Vec<u128> = texts.iter().map(|text| hash(text)).collect();
        let mut vectors: Vec<Option<Arc<[f32]>>> = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let vector = |(entry, hash): (&Entry, &u128)| {
                let known = known.get_mut(&entry.cursor())?;
                known.expires_ms = entry.expires_ms;
                (known.text == *hash).then(|| Arc::clone(&known.vector))
            };
            entries.iter().zip(&hashes).map(vector).collect()
        };
        let mut to_embed = vec![question.to_string()];
        for (text, vector) in texts.into_iter().zip(&vectors) {
            if vector.is_none() {
                to_embed.push(text);
            }
        }
        let mut embedded = embed_all(&self.embed, to_embed).await?.into_iter();
        let question = embedded.next().unwrap_or_default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for ((entry, text), vector) in entries.iter().zip(hashes).zip(&mut vectors) {
            if vector.is_none() {
                let new: Arc<[f32]> = embedded.next().unwrap_or_default().into();
                let vector = vector.insert(new);
                let vector = Arc::clone(vector);
                let expires_ms = entry.expires_ms;
                known.insert(
                    entry.cursor(),
                    Known {
                        text,
                        expires_ms,
                        vector,
                    },
                );
            }
        }
        Ok((question, vectors.into_iter().flatten().collect()))
    }
}

#[async_trait]
impl<B: MemoryBackend, E: Embed> VectorMemory for VectorIndex<B, E> {
    async fn search(&self, text: &str, mut query: Query) -> Result<Vec<SearchHit>, MemoryError> {
        let limit = query.limit.take().unwrap_or(DEFAULT_LIMIT);
        let selects_all = query.filter.is_none() && query.after.is_none();
        let prefix = query.prefix.clone();
        let entries = self.backend.query(query).await?.entries;
        self.forget(Some(&prefix).filter(|_| selects_all), &entries);
        let (question, vectors) = self.vectors_of(text, &entries).await?;
        let mut hits = Vec::with_capacity(entries.len());
        for (entry, vector) in entries.into_iter().zip(vectors) {
            check_length(&entry, vector.len(), question.len())?;
            let score = cosine(&question, &vector);
            hits.push(SearchHit { entry, score });
        }
        Ok(best(hits, limit))
    }
}

#[async_trait]
impl<B: MemoryBackend, E: Embed> MemoryBackend for VectorIndex<B, E> {
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError> {
        self.backend.get(namespace, key).await
    }

    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError> {
        self.backend.put(namespace, key, value, ttl).await
    }

    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError> {
        let existed = self.backend.delete(namespace, key).await?;
        let cursor = Cursor {
            namespace: namespace.clone(),
            key: key.into(),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&cursor);
        Ok(existed)
    }

    async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        self.backend.query(query).await
    }

    fn vectors(&self) -> Option<&dyn VectorMemory> {
        Some(self)
    }
}

/// The text of an entry that is searched, unless the program says otherwise.
pub(crate) fn plain_text(entry: &Entry) -> String {
    match &entry.value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// One vector for each text.
pub(crate) async fn embed_all(
    embed: &impl Embed,
    texts: Vec<String>,
) -> Result<Vec<Vec<f32>>, MemoryError> {
    let count = texts.len();
    let embedded = embed.embed(texts).await;
    let embedded = embedded.map_err(MemoryError::Embedding)?;
    if embedded.len() != count {
        let message = format!(
            "{count} texts were embedded as {} vectors: return one for each text",
            embedded.len()
        );
        return Err(MemoryError::Embedding(message.into()));
    }
    if embedded.iter().flatten().any(|number| !number.is_finite()) {
        let message = "a vector has a number that is infinite or not a number";
        return Err(MemoryError::Embedding(message.into()));
    }
    Ok(embedded)
}

/// Fails if the vector of an entry has another length than that of the question.
pub(crate) fn check_length(
    entry: &Entry,
    length: usize,
    question: usize,
) -> Result<(), MemoryError> {
    if length == question {
        return Ok(());
    }
    let message = format!(
        "the vector of `{}` has {length} numbers, that of the question {question}: use one embedding model for both",
        entry.key
    );
    Err(MemoryError::Embedding(message.into()))
}

/// The hits with the highest scores. Those with equal scores stay in their order.
pub(crate) fn best(mut hits: Vec<SearchHit>, limit: usize) -> Vec<SearchHit> {
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits.truncate(limit);
    hits
}

/// The cosine similarity of two vectors of the same length. 0 if it is not a finite number.
pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let length = (dot(one, one) * dot(other, other)).sqrt();
    let cosine = dot(one, other) / length;
    if cosine.is_finite() {
        cosine.clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

fn hash(text: &str) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InMemory, Memory};

    type Index = VectorIndex<InMemory, fn(Vec<String>) -> std::future::Ready<Vectors>>;
    type Vectors = Result<Vec<Vec<f32>>, BoxError>;

    fn index(kept: &InMemory) -> Arc<Index> {
        Arc::new(VectorIndex::new(kept.clone(), |texts| {
            std::future::ready(Ok(vec![vec![1.0]; texts.len()]))
        }))
    }

    fn cached(index: &Index) -> Vec<String> {
        let known = index.known.lock().unwrap();
        let mut keys: Vec<_> = known.keys().map(|cursor| cursor.key.clone()).collect();
        keys.sort();
        keys
    }

    #[tokio::test]
    async fn vectors_of_entries_that_expired_or_were_deleted_elsewhere_leave_the_cache() {
        let kept = InMemory::new();
        let index = index(&kept);
        let memory = Memory::new(kept);
        for (user, key) in [("ann", "a"), ("ann", "b"), ("bo", "c"), ("bo", "d")] {
            let own = memory.within(["users", user]);
            own.put_for(key, "petals", Duration::from_hours(1))
                .await
                .unwrap();
        }
        let all = || Query::new();
        index.search("petals", all()).await.unwrap();
        assert_eq!(cached(&index), ["a", "b", "c", "d"]);
        // Another handle, as another process would, deletes an entry.
        memory.within(["users", "ann"]).delete("a").await.unwrap();
        index
            .search("petals", Query::new().under(["users", "bo"]))
            .await
            .unwrap();
        assert_eq!(
            cached(&index),
            ["a", "b", "c", "d"],
            "a search elsewhere does not tell"
        );
        index
            .search("petals", Query::new().under(["users", "ann"]))
            .await
            .unwrap();
        assert_eq!(cached(&index), ["b", "c", "d"]);
        // As if the time had passed.
        for known in index.known.lock().unwrap().values_mut() {
            known.expires_ms = Some(1);
        }
        index
            .search("petals", Query::new().under(["users", "ann"]))
            .await
            .unwrap();
        assert_eq!(
            cached(&index),
            ["b"],
            "the entry that is searched is embedded again"
        );
    }
}
