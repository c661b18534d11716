//! Token counts in the format of each family.

use serde_json::Value;

use crate::TokenUsage;

/// A count. Negative numbers and text are not counts.
fn count(usage: &Value, path: &str) -> Option<u64> {
    let number = usage.pointer(path)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count is not negative, and a huge one is the largest"
    )]
    let whole = |number: f64| (number >= 0.0).then_some(number as u64);
    // Some servers write `12.0`.
    number.as_u64().or_else(|| whole(number.as_f64()?))
}

fn first(usage: &Value, paths: &[&str]) -> u64 {
    let mut counts = paths.iter().filter_map(|path| count(usage, path));
    counts.next().unwrap_or(0)
}

/// The counts of OpenAI's formats, and of compatible providers. Those of realtime sessions have other names.
pub(super) fn openai(usage: &Value) -> TokenUsage {
    let input = first(usage, &["/prompt_tokens", "/input_tokens"]);
    let output = first(usage, &["/completion_tokens", "/output_tokens"]);
    TokenUsage {
        input,
        output,
        total: count(usage, "/total_tokens").unwrap_or(input.saturating_add(output)),
        cached: first(
            usage,
            &[
                "/prompt_tokens_details/cached_tokens",
                "/input_tokens_details/cached_tokens",
                "/input_token_details/cached_tokens",
                "/prompt_cache_hit_tokens",
            ],
        ),
        reasoning: first(
            usage,
            &[
                "/completion_tokens_details/reasoning_tokens",
                "/output_tokens_details/reasoning_tokens",
            ],
        ),
        cache_writes: first(
            usage,
            &[
                "/prompt_tokens_details/cache_write_tokens",
                "/input_tokens_details/cache_write_tokens",
            ],
        ),
        cache_writes_1h: 0,
        input_audio: first(
            usage,
            &[
                "/prompt_tokens_details/audio_tokens",
                "/input_tokens_details/audio_tokens",
                "/input_token_details/audio_tokens",
            ],
        ),
        output_audio: first(
            usage,
            &[
                "/completion_tokens_details/audio_tokens",
                "/output_tokens_details/audio_tokens",
                "/output_token_details/audio_tokens",
            ],
        ),
        cost: cost(usage),
    }
}

/// Those tokens of a realtime request that are audio and came from the cache.
#[cfg(feature = "voice")]
pub(super) fn cached_audio(usage: &Value) -> u64 {
    count(
        usage,
        "/input_token_details/cached_tokens_details/audio_tokens",
    )
    .unwrap_or(0)
}

/// The cost that a gateway sends, in US dollars.
fn cost(usage: &Value) -> f64 {
    let paths = ["/cost", "/cost/total_cost", "/total_cost"];
    let numbers = paths
        .iter()
        .filter_map(|path| usage.pointer(path)?.as_f64());
    let mut costs = numbers.filter(|cost| cost.is_finite() && *cost > 0.0);
    costs.next().unwrap_or(0.0)
}

/// Anthropic's counts: the input excludes tokens read from or written to the cache. Missing counts stay unchanged.
pub(super) fn anthropic(usage: &Value, total: &mut TokenUsage) {
    let cached = count(usage, "/cache_read_input_tokens");
    if let Some(uncached) = count(usage, "/input_tokens") {
        let cache_writes = count(usage, "/cache_creation_input_tokens").unwrap_or(0);
        total.cached = cached.unwrap_or(0);
        total.cache_writes = cache_writes;
        total.cache_writes_1h =
            count(usage, "/cache_creation/ephemeral_1h_input_tokens").unwrap_or(0);
        total.input = uncached
            .saturating_add(cache_writes)
            .saturating_add(total.cached);
    }
    if let Some(output) = count(usage, "/output_tokens") {
        total.output = output;
    }
    if let Some(reasoning) = count(usage, "/output_tokens_details/thinking_tokens") {
        total.reasoning = reasoning;
    }
    total.total = total.input.saturating_add(total.output);
}

/// Gemini's counts: reasoning tokens, and input tokens of its own tools, are counted separately.
pub(super) fn gemini(usage: &Value) -> TokenUsage {
    let read = |field: &str| count(usage, field).unwrap_or(0);
    let audio = |field: &str| {
        let details = usage.pointer(field).and_then(Value::as_array);
        let mut details = details.into_iter().flatten();
        let audio = details.find(|detail| detail["modality"] == "AUDIO");
        audio
            .and_then(|detail| count(detail, "/tokenCount"))
            .unwrap_or(0)
    };
    let reasoning = read("/thoughtsTokenCount");
    let input = read("/promptTokenCount").saturating_add(read("/toolUsePromptTokenCount"));
    let output = read("/candidatesTokenCount").saturating_add(reasoning);
    TokenUsage {
        input,
        output,
        total: count(usage, "/totalTokenCount").unwrap_or(input.saturating_add(output)),
        cached: read("/cachedContentTokenCount"),
        reasoning,
        input_audio: audio("/promptTokensDetails"),
        output_audio: audio("/candidatesTokensDetails"),
        ..TokenUsage::default()
    }
}

/// Bedrock's counts: the input excludes tokens read from or written to the cache.
#[cfg(feature = "bedrock")]
pub(super) fn bedrock(usage: &Value) -> TokenUsage {
    let read = |field: &str| count(usage, field).unwrap_or(0);
    let (cached, cache_writes) = (
        read("/cacheReadInputTokens"),
        read("/cacheWriteInputTokens"),
    );
    let details = usage["cacheDetails"].as_array().into_iter().flatten();
    let long = details.filter(|detail| detail["ttl"] == "1h");
    let long = long.filter_map(|detail| count(detail, "/inputTokens"));
    let input = read("/inputTokens")
        .saturating_add(cached)
        .saturating_add(cache_writes);
    let output = read("/outputTokens");
    TokenUsage {
        input,
        output,
        total: count(usage, "/totalTokens").unwrap_or(input.saturating_add(output)),
        cached,
        cache_writes,
        cache_writes_1h: long.fold(0, u64::saturating_add),
        ..TokenUsage::default()
    }
}
