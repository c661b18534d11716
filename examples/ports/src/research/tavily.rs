//! The web as Tavily finds it.

use std::time::Duration;

use petalflow::async_trait;
use petalflow_llm::tls;
use serde::Deserialize;
use serde_json::json;

use super::text;
use super::web::{Hit, Topic, Web};

const LONGEST: Duration = Duration::from_secs(10);

/// The service [Tavily](https://docs.tavily.com) finds pages, and an HTTP client reads them.
#[derive(Debug)]
pub struct Tavily {
    client: reqwest::Client,
    address: String,
    key: String,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    results: Vec<Hit>,
}

impl Tavily {
    /// The service with this key.
    ///
    /// # Errors
    ///
    /// If no HTTP client can be made.
    pub fn new(key: impl Into<String>) -> petalflow::Result<Self> {
        Self::at("https://api.tavily.com", key)
    }

    /// A server with the interface of the service.
    ///
    /// # Errors
    ///
    /// If no HTTP client can be made.
    pub fn at(address: impl Into<String>, key: impl Into<String>) -> petalflow::Result<Self> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::client_config(&[])?)
            .timeout(LONGEST)
            .build()?;
        Ok(Tavily {
            client,
            address: address.into(),
            key: key.into(),
        })
    }
}

#[async_trait]
impl Web for Tavily {
    async fn search(&self, query: &str, most: usize, topic: Topic) -> petalflow::Result<Vec<Hit>> {
        let topic = match topic {
            Topic::General => "general",
            Topic::News => "news",
            Topic::Finance => "finance",
        };
        let body = json!({ "query": query, "max_results": most, "topic": topic });
        let request = self.client.post(format!("{}/search", self.address));
        let request = request
            .bearer_auth(&self.key)
            .header("content-type", "application/json")
            .body(body.to_string());
        let response = request.send().await?.error_for_status()?;
        let found: Found = serde_json::from_str(&response.text().await?)?;
        Ok(found.results)
    }

    async fn page(&self, url: &str) -> petalflow::Result<String> {
        let request = self.client.get(url).header("user-agent", "petalflow");
        let response = request.send().await?.error_for_status()?;
        Ok(text::of_html(&response.text().await?))
    }
}
