//! The providers that are known by name, and what distinguishes them.

use crate::Capabilities;

/// The format of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// OpenAI's chat completions, which most other providers use too.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Gemini's `generateContent`.
    Gemini,
    /// Bedrock's `Converse`.
    #[cfg(feature = "bedrock")]
    Converse,
}

impl Family {
    /// Whether requests of this kind can have tools that the model searches for.
    pub(super) const fn has_tool_search(self) -> bool {
        matches!(self, Family::Responses | Family::Messages)
    }
}

/// Where a model is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    /// At the provider, or at a server with the same paths.
    Provider,
    /// At Azure, with the paths of OpenAI.
    Azure,
    /// At Azure, with a path for each deployment.
    AzureDeployments,
    /// At Vertex AI.
    Vertex,
}

/// A provider: a row of [`PROVIDERS`].
#[derive(Debug)]
pub(super) struct Provider {
    /// The prefix in `prefix::model`, and the name in responses and errors.
    pub(super) name: &'static str,
    pub(super) family: Family,
    /// The address before the family's own path.
    pub(super) base_url: &'static str,
    /// The environment variable with the key. `None` for servers that need none.
    pub(super) variable: Option<&'static str>,
    pub(super) quirks: Quirks,
}

impl Provider {
    /// The name of the provider in what it signs: the same for all of its formats.
    pub(super) fn identity(&self) -> &'static str {
        match self.name {
            "openai_resp" => "openai",
            "xai_resp" => XAI,
            name => name,
        }
    }
}

/// The name of xAI in what it signs. Its responses have tools of its own.
pub(super) const XAI: &str = "xai";

/// How a provider of the family [`Family::Chat`] differs from OpenAI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quirks {
    /// How earlier reasoning is sent back.
    pub(super) reasoning: Reasoning,
    /// Whether models that reason take `max_completion_tokens` only.
    pub(super) newer_limit: bool,
    /// Whether the request says with `thinking` whether the model reasons.
    pub(super) thinking_switch: bool,
    /// Which fields of an earlier answer a message may have.
    pub(super) fields: AnswerFields,
    /// The field for the seed.
    pub(super) seed: &'static str,
    /// The maximum number of texts in one request for vectors.
    pub(super) texts: usize,
}

/// How earlier reasoning is sent back. Some providers require it, some reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reasoning {
    Omitted,
    /// As the field `reasoning_content` of the message.
    Field,
    /// As a part of the content with the type `thinking`.
    Part,
}

/// Which fields of an earlier answer a message may have. Some servers refuse fields that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AnswerFields {
    /// Those of which is known that the server takes them.
    Known,
    /// Others too, but no `annotations`. Clients of the chat completions append the message of an answer as it is.
    Unknown,
    /// All, `annotations` among them.
    All,
}

/// What a request is written for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// Whose signatures and opaque parts the model understands.
    pub(super) provider: &'a str,
    pub(super) family: Family,
    pub(super) platform: Platform,
    pub(super) model: &'a str,
    pub(super) quirks: Quirks,
    pub(super) capabilities: Capabilities,
    /// Whether every answer is a JSON object.
    pub(super) json_mode: bool,
    pub(super) streaming: bool,
}

/// A server of which nothing is known but its format.
pub(super) const COMPATIBLE: Quirks = Quirks {
    reasoning: Reasoning::Field,
    newer_limit: false,
    thinking_switch: false,
    fields: AnswerFields::Unknown,
    seed: "seed",
    texts: 2_048,
};

pub(super) const OPENAI: Quirks = Quirks {
    reasoning: Reasoning::Omitted,
    newer_limit: true,
    fields: AnswerFields::All,
    ..COMPATIBLE
};

/// It does not read a file again whose annotations come back.
const OPEN_ROUTER: Quirks = Quirks {
    fields: AnswerFields::All,
    ..COMPATIBLE
};

const NO_REASONING: Quirks = Quirks {
    reasoning: Reasoning::Omitted,
    fields: AnswerFields::Known,
    ..COMPATIBLE
};

const GEMINI: Quirks = Quirks {
    texts: 100,
    ..COMPATIBLE
};

/// Some models for vectors take one text in a request.
pub(super) const VERTEX: Quirks = Quirks {
    texts: 1,
    ..COMPATIBLE
};

const COHERE: Quirks = Quirks {
    texts: 96,
    ..NO_REASONING
};

const ALIYUN: Quirks = Quirks {
    texts: 10,
    ..COMPATIBLE
};

const DEEPSEEK: Quirks = Quirks {
    thinking_switch: true,
    ..COMPATIBLE
};

const MISTRAL: Quirks = Quirks {
    reasoning: Reasoning::Part,
    fields: AnswerFields::Known,
    seed: "random_seed",
    ..COMPATIBLE
};

macro_rules! providers {
    ($($name:literal $family:ident $base_url:literal $variable:expr, $quirks:expr;)*) => {
        /// All providers.
        pub(super) static PROVIDERS: &[Provider] = &[$(
            Provider {
                name: $name,
                family: Family::$family,
                base_url: $base_url,
                variable: $variable,
                quirks: $quirks,
            },
        )*];
    };
}

providers! {
    "openai" Chat "https://api.openai.com/v1" Some("OPENAI_API_KEY"), OPENAI;
    "openai_resp" Responses "https://api.openai.com/v1" Some("OPENAI_API_KEY"), OPENAI;
    "anthropic" Messages "https://api.anthropic.com/v1" Some("ANTHROPIC_API_KEY"), OPENAI;
    "gemini" Gemini "https://generativelanguage.googleapis.com/v1beta" Some("GEMINI_API_KEY"), GEMINI;
    "ollama" Chat "http://localhost:11434/v1" None, COMPATIBLE;
    "lm_studio" Chat "http://localhost:1234/v1" None, COMPATIBLE;
    "vllm" Chat "http://localhost:8000/v1" None, COMPATIBLE;
    "llama_cpp" Chat "http://localhost:8080/v1" None, COMPATIBLE;
    "aihubmix" Chat "https://aihubmix.com/v1" Some("AIHUBMIX_API_KEY"), COMPATIBLE;
    "aliyun" Chat "https://dashscope.aliyuncs.com/compatible-mode/v1" Some("ALIYUN_API_KEY"), ALIYUN;
    "bigmodel" Chat "https://open.bigmodel.cn/api/paas/v4" Some("BIGMODEL_API_KEY"), COMPATIBLE;
    "cerebras" Chat "https://api.cerebras.ai/v1" Some("CEREBRAS_API_KEY"), NO_REASONING;
    "cohere" Chat "https://api.cohere.ai/compatibility/v1" Some("COHERE_API_KEY"), COHERE;
    "deepseek" Chat "https://api.deepseek.com/v1" Some("DEEPSEEK_API_KEY"), DEEPSEEK;
    "fireworks" Chat "https://api.fireworks.ai/inference/v1" Some("FIREWORKS_API_KEY"), COMPATIBLE;
    "github" Chat "https://models.github.ai/inference" Some("GITHUB_TOKEN"), NO_REASONING;
    "groq" Chat "https://api.groq.com/openai/v1" Some("GROQ_API_KEY"), NO_REASONING;
    "hugging_face" Chat "https://router.huggingface.co/v1" Some("HF_TOKEN"), COMPATIBLE;
    "kimi" Chat "https://api.moonshot.ai/v1" Some("KIMI_API_KEY"), COMPATIBLE;
    "minimax" Messages "https://api.minimax.io/anthropic/v1" Some("MINIMAX_API_KEY"), COMPATIBLE;
    "mistral" Chat "https://api.mistral.ai/v1" Some("MISTRAL_API_KEY"), MISTRAL;
    "moonshot" Chat "https://api.moonshot.cn/v1" Some("MOONSHOT_API_KEY"), COMPATIBLE;
    "nebius" Chat "https://api.studio.nebius.ai/v1" Some("NEBIUS_API_KEY"), COMPATIBLE;
    "nvidia" Chat "https://integrate.api.nvidia.com/v1" Some("NVIDIA_API_KEY"), COMPATIBLE;
    "ollama_cloud" Chat "https://ollama.com/v1" Some("OLLAMA_API_KEY"), COMPATIBLE;
    "open_router" Chat "https://openrouter.ai/api/v1" Some("OPENROUTER_API_KEY"), OPEN_ROUTER;
    "perplexity" Chat "https://api.perplexity.ai" Some("PERPLEXITY_API_KEY"), NO_REASONING;
    "qwen_cloud" Chat "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" Some("QWEN_CLOUD_API_KEY"), ALIYUN;
    "requesty" Chat "https://router.requesty.ai/v1" Some("REQUESTY_API_KEY"), COMPATIBLE;
    "together" Chat "https://api.together.xyz/v1" Some("TOGETHER_API_KEY"), COMPATIBLE;
    "xai" Chat "https://api.x.ai/v1" Some("XAI_API_KEY"), NO_REASONING;
    "xai_resp" Responses "https://api.x.ai/v1" Some("XAI_API_KEY"), NO_REASONING;
    "zai" Chat "https://api.z.ai/api/paas/v4" Some("ZAI_API_KEY"), COMPATIBLE;
}

/// The starts of model names that belong to one provider.
const MODEL_PREFIXES: &[(&str, &str)] = &[
    ("gpt-oss", ""),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("text-embedding-", "openai"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("command", "cohere"),
    ("embed-", "cohere"),
    ("deepseek-", "deepseek"),
    ("glm", "zai"),
    ("grok", "xai"),
    ("kimi-", "kimi"),
    ("MiniMax-", "minimax"),
    ("minimax-", "minimax"),
    ("moonshot-", "moonshot"),
];

/// The provider with this name.
pub(super) fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The provider with the host of this address.
pub(super) fn by_address(address: &str) -> Option<&'static Provider> {
    let host = |address: &str| {
        let url: reqwest::Url = address.parse().ok()?;
        url.host_str().map(str::to_string)
    };
    let wanted = host(address).filter(|host| host != "localhost")?;
    PROVIDERS
        .iter()
        .find(|provider| host(provider.base_url).as_ref() == Some(&wanted))
}

/// The provider of a model, and the model's own name: by the prefix of `provider::model`, or by a well-known name.
pub(super) fn resolve(model: &str) -> Option<(&'static Provider, &str)> {
    if let Some((prefix, name)) = model.split_once("::") {
        return Some((provider(prefix)?, name));
    }
    let known = MODEL_PREFIXES
        .iter()
        .find(|(start, _)| model.starts_with(start));
    let &(_, name) = known?;
    let name = if name == "openai" && prefers_responses(model) {
        "openai_resp"
    } else {
        name
    };
    Some((provider(name)?, model))
}

/// Whether OpenAI serves a model better, or only, with its responses.
fn prefers_responses(model: &str) -> bool {
    let Some(rest) = model.strip_prefix("gpt-") else {
        return false;
    };
    major_version(rest) >= Some(5) || rest.contains("codex") || rest.contains("-pro")
}

/// The number at the start of a text.
fn major_version(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit());
    text[..digits.unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_assigned_to_providers_by_prefix_and_by_name() {
        let of = |model| resolve(model).map(|(provider, name)| (provider.name, name));
        for (model, expected) in [
            ("gpt-5-mini", Some(("openai_resp", "gpt-5-mini"))),
            ("gpt-6-astra", Some(("openai_resp", "gpt-6-astra"))),
            ("gpt-4o-mini", Some(("openai", "gpt-4o-mini"))),
            ("gpt-4o-codex", Some(("openai_resp", "gpt-4o-codex"))),
            ("o3-mini", Some(("openai", "o3-mini"))),
            ("openai::gpt-5", Some(("openai", "gpt-5"))),
            (
                "claude-sonnet-4-6",
                Some(("anthropic", "claude-sonnet-4-6")),
            ),
            ("open_router::x/y:free", Some(("open_router", "x/y:free"))),
            ("ollama::qwen3:8b", Some(("ollama", "qwen3:8b"))),
            ("gpt-oss-120b", None),
            ("qwen3", None),
            ("nobody::qwen3", None),
            ("", None),
        ] {
            assert_eq!(of(model), expected, "{model}");
        }
    }

    #[test]
    fn names_are_unique_and_addresses_are_complete() {
        for (index, provider) in PROVIDERS.iter().enumerate() {
            let address: reqwest::Url = provider.base_url.parse().unwrap();
            assert!(address.host_str().is_some() && !provider.base_url.ends_with('/'));
            let same = PROVIDERS
                .iter()
                .position(|other| other.name == provider.name);
            assert_eq!(same, Some(index), "{}", provider.name);
        }
        for (_, name) in MODEL_PREFIXES {
            assert!(name.is_empty() || provider(name).is_some(), "{name}");
        }
    }
}
