//! Search by meaning.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hasher;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::{Backend, Cursor, Entry, MemoryError, MemoryFuture, Namespace, Page, Query};
use crate::BoxError;
use crate::middleware::BoxFuture;

/// How many entries are found unless a query says otherwise.
const FOUND: usize = 10;

/// A [`Backend`] that also searches by meaning.
///
/// ```
/// use petalflow::memory::{MemoryError, Near, Query, VectorMemory};
///
/// async fn three(memory: &dyn VectorMemory, about: &str) -> Result<Vec<Near>, MemoryError> {
///     memory.nearest(about, Query::new().limit(3)).await
/// }
/// # let _ = three;
/// ```
pub trait VectorMemory: Backend {
    /// The entries that a query asks for whose meaning is nearest to a text, the nearest first; ten unless the query has
    /// another limit.
    fn nearest<'a>(&'a self, text: &'a str, query: Query) -> MemoryFuture<'a, Vec<Near>>;
}

/// An entry that was found by its meaning.
///
/// ```
/// use petalflow::memory::Near;
///
/// fn best(found: &[Near]) -> Option<&str> {
///     found.first().filter(|near| near.score > 0.5).map(|near| near.entry.key.as_str())
/// }
/// assert_eq!(best(&[]), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The entry.
    pub entry: Entry,
    /// How near it is: the cosine between the two vectors, from -1 to 1.
    pub score: f32,
}

/// Turns texts into vectors: an embedding model. Implemented for functions that take texts and return a future.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow::memory::Embed;
///
/// fn embedder() -> impl Embed {
///     |texts: Vec<String>| async move {
///         // Ask an embedding model here.
///         Ok::<_, BoxError>(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
///     }
/// }
/// # let _ = embedder();
/// ```
pub trait Embed: Send + Sync + 'static {
    /// A vector for each text, in their order; all of one length.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, BoxError>>;
}

impl<F, R> Embed for F
where
    F: Fn(Vec<String>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<Vec<f32>>, BoxError>> + Send + 'static,
{
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, BoxError>> {
        Box::pin(self(texts))
    }
}

/// Adds search by meaning to a backend.
///
/// It compares the question with every entry that is asked for; vectors are made when an entry is first searched or has
/// changed, and kept in the process. That suits thousands of entries; for millions implement [`VectorMemory`] over a
/// database that has an index for it.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow::memory::{Embedded, InMemory, Memory};
///
/// /// One number per subject, in place of an embedding model.
/// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
///     let vector = |text: &String| ["tulip", "river"].map(|word| text.matches(word).count() as f32).to_vec();
///     Ok(texts.iter().map(vector).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(Embedded::new(InMemory::new(), embed));
/// memory.put("a", "tulips are sold in bunches").await?;
/// memory.put("b", "the river is high").await?;
///
/// let near = memory.nearest("which tulip is red?", 1).await?;
/// assert_eq!(near[0].entry.key, "a");
/// # Ok(())
/// # }
/// ```
pub struct Embedded<B, E> {
    backend: B,
    embed: E,
    text: fn(&Entry) -> String,
    known: Mutex<HashMap<Cursor, Known>>,
}

/// The vector of an entry's text, which a hash stands for.
struct Known {
    text: u128,
    vector: Arc<[f32]>,
}

impl<B: fmt::Debug, E> fmt::Debug for Embedded<B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

impl<B: Backend, E: Embed> Embedded<B, E> {
    /// Searches what this backend keeps by vectors that this makes.
    pub fn new(backend: B, embed: E) -> Self {
        Embedded {
            backend,
            embed,
            text: |entry| match &entry.value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            },
            known: Mutex::default(),
        }
    }

    /// What of an entry is searched; unless said otherwise a text as it is, and any other value as JSON.
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow::memory::{Embedded, InMemory};
    ///
    /// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
    ///     // Ask an embedding model here.
    ///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
    /// }
    ///
    /// let memory = Embedded::new(InMemory::new(), embed).text(|entry| entry.value["title"].to_string());
    /// # let _ = memory;
    /// ```
    #[must_use]
    pub fn text(mut self, text: fn(&Entry) -> String) -> Self {
        self.text = text;
        self
    }

    /// The vectors of a question and of entries; those that are not known are made.
    async fn vectors_of(
        &self,
        question: &str,
        entries: &[Entry],
    ) -> Result<(Vec<f32>, Vec<Arc<[f32]>>), MemoryError> {
        let texts: Vec<String> = entries.iter().map(self.text).collect();
        let hashes: Vec<u128> = texts.iter().map(|text| hash(text)).collect();
        let mut vectors: Vec<Option<Arc<[f32]>>> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let vector = |(entry, hash): (&Entry, &u128)| {
                let known = known.get(&entry.cursor())?;
                (known.text == *hash).then(|| Arc::clone(&known.vector))
            };
            entries.iter().zip(&hashes).map(vector).collect()
        };
        let mut asked = vec![question.to_string()];
        for (text, vector) in texts.into_iter().zip(&vectors) {
            if vector.is_none() {
                asked.push(text);
            }
        }
        let count = asked.len();
        let made = self.embed.embed(asked).await;
        let mut made = made.map_err(MemoryError::Embedding)?.into_iter();
        if made.len() != count {
            let words = format!(
                "{count} texts were embedded as {} vectors: return one for each text",
                made.len()
            );
            return Err(MemoryError::Embedding(words.into()));
        }
        let question = made.next().unwrap_or_default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for ((entry, text), vector) in entries.iter().zip(hashes).zip(&mut vectors) {
            if vector.is_none() {
                let new: Arc<[f32]> = made.next().unwrap_or_default().into();
                let vector = vector.insert(new);
                let vector = Arc::clone(vector);
                known.insert(entry.cursor(), Known { text, vector });
            }
        }
        Ok((question, vectors.into_iter().flatten().collect()))
    }
}

impl<B: Backend, E: Embed> VectorMemory for Embedded<B, E> {
    fn nearest<'a>(&'a self, text: &'a str, mut query: Query) -> MemoryFuture<'a, Vec<Near>> {
        Box::pin(async move {
            let limit = query.limit.take().unwrap_or(FOUND);
            let entries = self.backend.query(query).await?.entries;
            let (question, vectors) = self.vectors_of(text, &entries).await?;
            let mut near = Vec::with_capacity(entries.len());
            for (entry, vector) in entries.into_iter().zip(vectors) {
                if vector.len() != question.len() {
                    let words = format!(
                        "the vector of `{}` has {} numbers, that of the question {}: use one embedding model for both",
                        entry.key,
                        vector.len(),
                        question.len()
                    );
                    return Err(MemoryError::Embedding(words.into()));
                }
                let score = cosine(&question, &vector);
                near.push(Near { entry, score });
            }
            // Stable: equally near ones stay in the order of namespace and key.
            near.sort_by(|one, other| other.score.total_cmp(&one.score));
            near.truncate(limit);
            Ok(near)
        })
    }
}

impl<B: Backend, E: Embed> Backend for Embedded<B, E> {
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> MemoryFuture<'a, Option<Entry>> {
        self.backend.get(namespace, key)
    }

    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Value,
        ttl: Option<Duration>,
    ) -> MemoryFuture<'a, ()> {
        self.backend.put(namespace, key, value, ttl)
    }

    fn delete<'a>(&'a self, namespace: &'a Namespace, key: &'a str) -> MemoryFuture<'a, bool> {
        Box::pin(async move {
            let was_there = self.backend.delete(namespace, key).await?;
            let place = Cursor {
                namespace: namespace.clone(),
                key: key.into(),
            };
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.remove(&place);
            Ok(was_there)
        })
    }

    fn query(&self, query: Query) -> MemoryFuture<'_, Page> {
        self.backend.query(query)
    }

    fn vectors(&self) -> Option<&dyn VectorMemory> {
        Some(self)
    }
}

/// The cosine between two vectors of one length; 0 where one of them has none, or is no number.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
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
