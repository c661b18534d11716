//! The web search of a provider.

use serde::{Deserialize, Serialize};

/// The web search of a provider. OpenAI and xAI have it over the Responses interface, Anthropic, Gemini, and Nova at
/// Bedrock.
///
/// ```
/// use petalflow_llm::native::{UserLocation, WebSearch};
///
/// let search = WebSearch::new()
///     .max_uses(3)
///     .allowed_domains(["docs.rs", "rust-lang.org"])
///     .user_location(UserLocation::new().country("JP").city("Kyoto"));
/// assert_eq!(search.max_uses, Some(3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct WebSearch {
    /// How often the model may search in one request. Anthropic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u32>,
    /// The only domains that are searched, with their subdomains. OpenAI, Anthropic and xAI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// The domains that are not searched. Anthropic, xAI, and Gemini at Vertex AI. Not together with `allowed_domains`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_domains: Vec<String>,
    /// Where the user is. OpenAI and Anthropic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_location: Option<UserLocation>,
    /// How much of the results the model reads. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_size: Option<SearchContext>,
}

impl WebSearch {
    /// A search without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how often the model may search in one request.
    #[must_use]
    pub fn max_uses(mut self, uses: u32) -> Self {
        self.max_uses = Some(uses);
        self
    }

    /// Adds domains that are searched. Others are not.
    #[must_use]
    pub fn allowed_domains(mut self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_domains
            .extend(domains.into_iter().map(Into::into));
        self
    }

    /// Adds domains that are not searched.
    #[must_use]
    pub fn blocked_domains(mut self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.blocked_domains
            .extend(domains.into_iter().map(Into::into));
        self
    }

    /// Sets where the user is.
    #[must_use]
    pub fn user_location(mut self, location: UserLocation) -> Self {
        self.user_location = Some(location);
        self
    }

    /// Sets how much of the results the model reads.
    #[must_use]
    pub fn context_size(mut self, size: SearchContext) -> Self {
        self.context_size = Some(size);
        self
    }
}

/// Where the user is, approximately; see [`WebSearch::user_location`].
///
/// ```
/// use petalflow_llm::native::UserLocation;
///
/// let place = UserLocation::new().country("DE").timezone("Europe/Berlin");
/// assert_eq!(place.country.as_deref(), Some("DE"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UserLocation {
    /// The city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The region, such as `California`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The country, as two letters of ISO 3166-1, such as `US`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The time zone, as IANA names it, such as `America/Los_Angeles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl UserLocation {
    /// No location yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the city.
    #[must_use]
    pub fn city(mut self, city: impl Into<String>) -> Self {
        self.city = Some(city.into());
        self
    }

    /// Sets the region.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets the country.
    #[must_use]
    pub fn country(mut self, country: impl Into<String>) -> Self {
        self.country = Some(country.into());
        self
    }

    /// Sets the time zone.
    #[must_use]
    pub fn timezone(mut self, timezone: impl Into<String>) -> Self {
        self.timezone = Some(timezone.into());
        self
    }
}

/// How much of the results of a web search the model reads; see [`WebSearch::context_size`].
///
/// ```
/// use petalflow_llm::native::{SearchContext, WebSearch};
///
/// let search = WebSearch::new().context_size(SearchContext::Low);
/// assert_eq!(search.context_size, Some(SearchContext::Low));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SearchContext {
    /// Little: the cheapest.
    Low,
    /// As the provider does by itself.
    Medium,
    /// Much.
    High,
}
