//! What a researcher can do: search the web, and think.

use std::fmt::Write;
use std::sync::Arc;

use petalflow::async_trait;
use petalflow::prelude::*;
use serde::Deserialize;

/// What a search is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Topic {
    General,
    News,
    Finance,
}

/// A page that a search has found.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Hit {
    pub url: String,
    pub title: String,
}

/// Searches the web, and reads pages.
#[async_trait]
pub trait Web: Send + Sync + 'static {
    /// The best pages for a query, at most `most`.
    async fn search(&self, query: &str, most: usize, topic: Topic) -> petalflow::Result<Vec<Hit>>;

    /// The text of a page.
    async fn page(&self, url: &str) -> petalflow::Result<String>;
}

/// The web of a run.
pub(super) struct Searches {
    pub(super) web: Arc<dyn Web>,
    /// The settings of the program, which the model does not see.
    pub(super) most: usize,
    pub(super) topic: Topic,
}

/// Searches the web, and returns whole pages.
#[tool]
pub(super) async fn tavily_search(
    /// What to search for.
    query: String,
    searches: Managed<Searches>,
) -> petalflow::Result<String> {
    let web = &searches.web;
    let hits = web.search(&query, searches.most, searches.topic).await?;
    let mut found = format!("{} pages for `{query}`:\n", hits.len());
    for Hit { url, title } in hits {
        // The model reads that a page cannot be read, and goes on with the others.
        let text = match web.page(&url).await {
            Ok(text) => text,
            Err(error) => format!("The page cannot be read: {error}"),
        };
        write!(found, "\n## {title}\n{url}\n\n{text}\n\n---\n")?;
    }
    Ok(found)
}

/// Notes a reflection. Call it after each search: what was found, what is missing, whether that is enough for a good answer, and
/// what comes next.
#[tool]
pub(super) fn think_tool(
    /// What was found, what is missing, and the next step.
    reflection: String,
) -> String {
    format!("Noted: {reflection}")
}
