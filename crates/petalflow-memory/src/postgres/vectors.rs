//! Vector search in a PostgreSQL database.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use petalflow::async_trait;
use petalflow_postgres::database::tokio_postgres::Row;
use petalflow_postgres::database::tokio_postgres::types::ToSql;
use serde_json::Value;

use super::memory::PostgresMemory;
use super::range::Range;
use super::rows::{self, EXTRA, column};
use super::sql;
use crate::stored::sort_key;
use crate::vector::{self, DEFAULT_LIMIT, cosine, embed_all, plain_text};
use crate::{
    Embed, Entry, MemoryBackend, MemoryError, Namespace, Page, Query, SearchHit, VectorMemory,
};

/// How many entries are embedded and stored at once.
const BATCH: i64 = 64;

/// A [`PostgresMemory`] with vector search.
///
/// The vector of an entry is computed when the entry is first searched or has changed, and is stored: processes share
/// it. [`embed_new`](Self::embed_new) computes vectors ahead of a search. Vectors are stored under the name of their
/// model. Choose another name when you change the model or the [text](Self::text) that is searched.
///
/// With the extension pgvector, the server compares the vectors and sends only what was found. Without it, the process
/// reads all vectors of the query. Both give the same entries. `CREATE EXTENSION vector` adds pgvector to a database; a
/// running program notices it.
///
/// ```no_run
/// use petalflow::BoxError;
/// use petalflow_memory::{Memory, PostgresMemory, PostgresVectors};
///
/// # async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
/// #     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = PostgresMemory::connect("postgres://app:secret@localhost/app").await?;
/// // `embed` asks the embedding model.
/// let memory = PostgresVectors::new(memory, "text-embedding-3-small", embed);
/// let handbook = Memory::new(memory).within("handbook");
/// handbook.put("tulips", "A tulip needs sun.").await?;
/// let hits = handbook.search("Where does a tulip grow?", 1).await?;
/// assert_eq!(hits[0].entry.key, "tulips");
/// # Ok(())
/// # }
/// ```
pub struct PostgresVectors<E> {
    memory: PostgresMemory,
    model: String,
    embed: E,
    text: fn(&Entry) -> String,
    /// The statement that compares vectors in the server, once pgvector was found.
    nearest: OnceLock<String>,
}

impl<E> fmt::Debug for PostgresVectors<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresVectors")
            .field("memory", &self.memory)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<E: Embed> PostgresVectors<E> {
    /// Adds vector search to a memory, with this embedding model. `model` names it: vectors are stored under this name,
    /// and those of another name are not used.
    pub fn new(memory: PostgresMemory, model: impl Into<String>, embed: E) -> Self {
        PostgresVectors {
            memory,
            model: model.into(),
            embed,
            text: plain_text,
            nearest: OnceLock::new(),
        }
    }

    /// Sets the text of an entry that is searched. By default a text value as it is, and any other value as JSON.
    ///
    /// ```no_run
    /// # use petalflow::BoxError;
    /// # use petalflow_memory::{PostgresMemory, PostgresVectors};
    /// # async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> { Ok(vec![vec![1.0]; texts.len()]) }
    /// # async fn example(memory: PostgresMemory) {
    /// let memory = PostgresVectors::new(memory, "text-embedding-3-small, titles", embed)
    ///     .text(|entry| entry.value["title"].to_string());
    /// # let _ = memory;
    /// # }
    /// ```
    #[must_use]
    pub fn text(mut self, text: fn(&Entry) -> String) -> Self {
        self.text = text;
        self
    }

    /// Computes and stores the vectors of the entries under this namespace that have none, so that the next search need
    /// not. Returns how many there were.
    ///
    /// ```no_run
    /// # use petalflow::BoxError;
    /// # use petalflow_memory::{MemoryError, Namespace, PostgresMemory, PostgresVectors};
    /// # async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> { Ok(vec![vec![1.0]; texts.len()]) }
    /// # async fn example(memory: PostgresMemory) -> Result<(), MemoryError> {
    /// let memory = PostgresVectors::new(memory, "text-embedding-3-small", embed);
    /// println!("{} entries are new", memory.embed_new(Namespace::ROOT).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Embedding`](MemoryError::Embedding) if the model fails, and those of the database. What was stored before
    /// remains.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the vectors that were not stored yet. They are computed again when they are needed.
    pub async fn embed_new(&self, under: impl Into<Namespace>) -> Result<u64, MemoryError> {
        let range = Range::of(&Query::new().under(under));
        self.embed_missing(&range, None).await
    }

    /// Computes and stores the vectors of a range that are missing. With `dimensions`, also those of another length.
    async fn embed_missing(
        &self,
        range: &Range,
        dimensions: Option<i32>,
    ) -> Result<u64, MemoryError> {
        let mut count = 0;
        loop {
            let params = range.params(&[&self.model, &dimensions, &BATCH]);
            let rows = self.memory.0.read_with(sql::WITHOUT_VECTOR, &params);
            let rows = rows.await?;
            if rows.is_empty() {
                return Ok(count);
            }
            count += rows.len() as u64;
            self.embed_rows(&rows, dimensions).await?;
        }
    }

    async fn embed_rows(&self, rows: &[Row], dimensions: Option<i32>) -> Result<(), MemoryError> {
        let entries: Vec<Entry> = rows.iter().map(rows::entry).collect::<Result<_, _>>()?;
        let versions: Vec<i64> = rows
            .iter()
            .map(|row| column(row, EXTRA))
            .collect::<Result<_, _>>()?;
        let texts = entries.iter().map(self.text).collect();
        let vectors = embed_all(&self.embed, texts).await?;
        let length = match dimensions {
            Some(dimensions) => usize::try_from(dimensions).unwrap_or(0),
            None => vectors.first().map_or(0, Vec::len),
        };
        for (entry, vector) in entries.iter().zip(&vectors) {
            vector::check_length(entry, vector.len(), length)?;
        }
        let sort_keys: Vec<Vec<u8>> = entries
            .iter()
            .map(|entry| sort_key(&entry.namespace, &entry.key))
            .collect();
        let numbers = vectors.concat();
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        let params: &[&(dyn ToSql + Sync)] =
            &[&self.model, &numbers, &length, &sort_keys, &versions];
        self.memory.0.write_with(sql::STORE_VECTORS, params).await?;
        Ok(())
    }

    /// The statement that compares vectors in the server, if it can.
    async fn nearest(&self) -> Result<Option<&str>, MemoryError> {
        if self.nearest.get().is_none() {
            let rows = self.memory.0.read_with(sql::PGVECTOR, &[]).await?;
            let Some(row) = rows.first() else {
                return Ok(None);
            };
            let _ = self.nearest.set(sql::nearest(&column::<String>(row, 0)?));
        }
        Ok(self.nearest.get().map(String::as_str))
    }

    /// Compares in the server. More rows are read until enough match the filter.
    async fn search_in_server(
        &self,
        nearest: &str,
        search: &Search<'_>,
    ) -> Result<Vec<SearchHit>, MemoryError> {
        let mut wanted = search.limit;
        loop {
            let most = i64::try_from(wanted).unwrap_or(i64::MAX);
            let question = &search.question;
            let params = [
                &self.model as &(dyn ToSql + Sync),
                &search.dimensions,
                question,
                &most,
            ];
            let params = search.range.params(&params);
            let rows = self.memory.0.read_with(nearest, &params).await?;
            let mut hits = search.matching(&rows, |row| {
                #[expect(clippy::cast_possible_truncation, reason = "scores are `f32`")]
                column::<f64>(row, EXTRA).map(|score| score as f32)
            })?;
            if hits.len() >= search.limit || rows.len() < wanted {
                hits.truncate(search.limit);
                return Ok(hits);
            }
            wanted = wanted.saturating_mul(4);
        }
    }

    /// Reads the vectors and compares them here.
    async fn search_here(&self, search: &Search<'_>) -> Result<Vec<SearchHit>, MemoryError> {
        let params = search.range.params(&[&self.model, &search.dimensions]);
        let rows = self.memory.0.read_with(sql::VECTORS, &params).await?;
        let hits = search.matching(&rows, |row| {
            let vector: Vec<f32> = column(row, EXTRA)?;
            Ok(cosine(&search.question, &vector))
        })?;
        Ok(vector::best(hits, search.limit))
    }
}

/// One search.
struct Search<'a> {
    query: &'a Query,
    range: Range,
    /// The vector of the text that is searched.
    question: Vec<f32>,
    /// How many numbers it has.
    dimensions: i32,
    limit: usize,
}

impl Search<'_> {
    /// The rows whose entries match the filter, with their scores.
    fn matching(
        &self,
        rows: &[Row],
        score: impl Fn(&Row) -> Result<f32, MemoryError>,
    ) -> Result<Vec<SearchHit>, MemoryError> {
        let mut hits = Vec::new();
        for row in rows {
            let entry = rows::entry(row)?;
            if self.query.matches(&entry) {
                let score = score(row)?;
                hits.push(SearchHit { entry, score });
            }
        }
        Ok(hits)
    }
}

#[async_trait]
impl<E: Embed> VectorMemory for PostgresVectors<E> {
    async fn search(&self, text: &str, query: Query) -> Result<Vec<SearchHit>, MemoryError> {
        let mut embedded = embed_all(&self.embed, vec![text.to_string()]).await?;
        let question = embedded.pop().unwrap_or_default();
        if question.is_empty() {
            let message = "the vector of the question has no numbers";
            return Err(MemoryError::Embedding(message.into()));
        }
        let search = Search {
            range: Range::of(&query),
            dimensions: i32::try_from(question.len()).unwrap_or(i32::MAX),
            question,
            limit: query.limit.unwrap_or(DEFAULT_LIMIT),
            query: &query,
        };
        self.embed_missing(&search.range, Some(search.dimensions))
            .await?;
        match self.nearest().await? {
            Some(nearest) => self.search_in_server(nearest, &search).await,
            None => self.search_here(&search).await,
        }
    }
}

#[async_trait]
impl<E: Embed> MemoryBackend for PostgresVectors<E> {
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError> {
        self.memory.get(namespace, key).await
    }

    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError> {
        self.memory.put(namespace, key, value, ttl).await
    }

    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError> {
        self.memory.delete(namespace, key).await
    }

    async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        self.memory.query(query).await
    }

    fn vectors(&self) -> Option<&dyn VectorMemory> {
        Some(self)
    }
}
