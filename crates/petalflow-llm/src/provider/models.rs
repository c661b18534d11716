//! What is known of models: a table by provider and by the start of the model's name. What is not known counts as present.

use crate::request::{Effort, TypedOutput};
use crate::{Allowed, Capabilities, ThinkTags};

const UNKNOWN: Capabilities = Capabilities::UNKNOWN;

const OPENAI: Capabilities = Capabilities {
    schema_with_tools: true,
    strict_schemas: true,
    audio: false,
    video: false,
    reasoning: false,
    think_tags: ThinkTags::Absent,
    ..UNKNOWN
};

const OPENAI_AUDIO: Capabilities = Capabilities {
    audio: true,
    ..OPENAI
};

/// Models from before the strict form of schemas.
const OPENAI_OLD: Capabilities = Capabilities {
    schema_with_tools: false,
    strict_schemas: false,
    typed_output: TypedOutput::Tool,
    json_mode: true,
    ..OPENAI
};

const GPT_3_5: Capabilities = Capabilities {
    images: false,
    files: false,
    ..OPENAI_OLD
};

const O_SERIES: Capabilities = Capabilities {
    reasoning: true,
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    sampling: Allowed::Never,
    ..OPENAI
};

const GPT_5: Capabilities = Capabilities {
    efforts: &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High],
    ..O_SERIES
};

const GPT_5_PRO: Capabilities = Capabilities {
    efforts: &[Effort::High],
    ..O_SERIES
};

/// They do not reason unless they are asked to.
const GPT_5_1: Capabilities = Capabilities {
    efforts: &[Effort::None, Effort::Low, Effort::Medium, Effort::High],
    sampling: Allowed::WithoutReasoning,
    ..O_SERIES
};

const GPT_5_2: Capabilities = Capabilities {
    efforts: &[
        Effort::None,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::XHigh,
    ],
    ..GPT_5_1
};

const GPT_5_4: Capabilities = Capabilities {
    tool_search: true,
    ..GPT_5_2
};

const GPT_5_2_PRO: Capabilities = Capabilities {
    efforts: &[Effort::Medium, Effort::High, Effort::XHigh],
    ..O_SERIES
};

const CODEX_MAX: Capabilities = Capabilities {
    efforts: &[Effort::Low, Effort::Medium, Effort::High, Effort::XHigh],
    ..O_SERIES
};

/// From version 4.6 on. They decide how long they reason.
const CLAUDE: Capabilities = Capabilities {
    schema_with_tools: true,
    strict_schemas: true,
    forced_tools: Allowed::WithoutReasoning,
    tool_search: true,
    audio: false,
    video: false,
    think_tags: ThinkTags::Absent,
    efforts: &[Effort::None, Effort::Low, Effort::Medium, Effort::High],
    sampling: Allowed::WithoutReasoning,
    embeddings: false,
    ..UNKNOWN
};

const CLAUDE_4_7: Capabilities = Capabilities {
    efforts: &[
        Effort::None,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::XHigh,
    ],
    sampling: Allowed::Never,
    ..CLAUDE
};

const CLAUDE_4_5: Capabilities = Capabilities {
    efforts: &[],
    ..CLAUDE
};

const CLAUDE_HAIKU_4_5: Capabilities = Capabilities {
    tool_search: false,
    ..CLAUDE_4_5
};

/// They have no `output_config`, and enforce no schemas.
const CLAUDE_4: Capabilities = Capabilities {
    schema_with_tools: false,
    strict_schemas: false,
    typed_output: TypedOutput::Tool,
    tool_search: false,
    ..CLAUDE_4_5
};

const CLAUDE_3: Capabilities = Capabilities {
    reasoning: false,
    ..CLAUDE_4
};

const MINIMAX: Capabilities = Capabilities {
    schema_with_tools: false,
    strict_schemas: false,
    typed_output: TypedOutput::Prompt,
    tool_search: false,
    efforts: &[],
    ..CLAUDE
};

const GEMINI: Capabilities = Capabilities {
    efforts: &[],
    think_tags: ThinkTags::Absent,
    ..UNKNOWN
};

const GEMINI_2_0: Capabilities = Capabilities {
    reasoning: false,
    ..GEMINI
};

const GEMINI_3: Capabilities = Capabilities {
    efforts: &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High],
    ..GEMINI
};

const GEMINI_3_PRO: Capabilities = Capabilities {
    efforts: &[Effort::Low, Effort::High],
    ..GEMINI
};

const GEMINI_3_1_PRO: Capabilities = Capabilities {
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    ..GEMINI
};

/// Servers whose only form of an answer is "some JSON object".
const JSON_OBJECT: Capabilities = Capabilities {
    typed_output: TypedOutput::Prompt,
    json_mode: true,
    ..UNKNOWN
};

const DEEPSEEK: Capabilities = Capabilities {
    forced_tools: Allowed::WithoutReasoning,
    ..JSON_OBJECT
};

const DEEPSEEK_REASONER: Capabilities = Capabilities {
    forced_tools: Allowed::Never,
    sampling: Allowed::Never,
    ..JSON_OBJECT
};

const JSON_OBJECT_AND_FREE_TOOLS: Capabilities = Capabilities {
    forced_tools: Allowed::Never,
    ..JSON_OBJECT
};

/// Most of its models have no schema of an answer.
const GROQ: Capabilities = Capabilities {
    typed_output: TypedOutput::Tool,
    json_mode: true,
    ..UNKNOWN
};

const GPT_OSS: Capabilities = Capabilities {
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    ..UNKNOWN
};

const NO_TOOLS: Capabilities = Capabilities {
    tools: false,
    ..UNKNOWN
};

/// It ignores which tool is to be called.
const OLLAMA: Capabilities = Capabilities {
    forced_tools: Allowed::Never,
    ..UNKNOWN
};

/// Of a choice that names a tool, llama.cpp makes a free one, and LM Studio an error.
const ANY_TOOL: Capabilities = Capabilities {
    named_tools: false,
    ..UNKNOWN
};

const GROK_3_MINI: Capabilities = Capabilities {
    efforts: &[Effort::Low, Effort::High],
    ..UNKNOWN
};

/// Models at Bedrock that are not Claude.
const BEDROCK: Capabilities = Capabilities {
    typed_output: TypedOutput::Tool,
    audio: false,
    reasoning: false,
    embeddings: false,
    ..UNKNOWN
};

const BEDROCK_LEVELS: Capabilities = Capabilities {
    reasoning: true,
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    ..BEDROCK
};

/// It reasons only if it is told to.
const NOVA_2: Capabilities = Capabilities {
    efforts: &[Effort::None, Effort::Low, Effort::Medium, Effort::High],
    ..BEDROCK_LEVELS
};

/// The provider, the start of the model's name, and its capabilities. The longest start counts.
const MODELS: &[(&str, &str, Capabilities)] = &[
    ("openai", "", OPENAI),
    ("openai", "gpt-", GPT_5_4),
    ("openai", "gpt-3.5", GPT_3_5),
    ("openai", "gpt-4", OPENAI_OLD),
    ("openai", "gpt-4.", OPENAI),
    ("openai", "gpt-4o", OPENAI),
    ("openai", "gpt-4o-2024-05-13", OPENAI_OLD),
    ("openai", "gpt-4o-audio", OPENAI_AUDIO),
    ("openai", "gpt-4o-mini-audio", OPENAI_AUDIO),
    ("openai", "gpt-audio", OPENAI_AUDIO),
    ("openai", "gpt-5", GPT_5),
    ("openai", "gpt-5-chat", OPENAI),
    ("openai", "gpt-5-codex", O_SERIES),
    ("openai", "gpt-5-pro", GPT_5_PRO),
    ("openai", "gpt-5.", GPT_5_4),
    ("openai", "gpt-5.1", GPT_5_1),
    ("openai", "gpt-5.1-chat", OPENAI),
    ("openai", "gpt-5.1-codex", O_SERIES),
    ("openai", "gpt-5.1-codex-max", CODEX_MAX),
    ("openai", "gpt-5.2", GPT_5_2),
    ("openai", "gpt-5.2-chat", OPENAI),
    ("openai", "gpt-5.2-codex", CODEX_MAX),
    ("openai", "gpt-5.2-pro", GPT_5_2_PRO),
    ("openai", "gpt-5.3", GPT_5_2),
    ("openai", "gpt-5.3-chat", OPENAI),
    ("openai", "gpt-5.4-nano", GPT_5_2),
    ("openai", "codex", O_SERIES),
    ("openai", "o1", O_SERIES),
    ("openai", "o3", O_SERIES),
    ("openai", "o4", O_SERIES),
    ("anthropic", "", CLAUDE),
    ("anthropic", "claude-2", CLAUDE_3),
    ("anthropic", "claude-3", CLAUDE_3),
    ("anthropic", "claude-3-7", CLAUDE_4),
    ("anthropic", "claude-haiku-4-5", CLAUDE_HAIKU_4_5),
    ("anthropic", "claude-opus-4-0", CLAUDE_4),
    ("anthropic", "claude-opus-4-1", CLAUDE_4),
    ("anthropic", "claude-opus-4-20", CLAUDE_4),
    ("anthropic", "claude-opus-4@", CLAUDE_4),
    ("anthropic", "claude-opus-4-5", CLAUDE_4_5),
    ("anthropic", "claude-opus-4-7", CLAUDE_4_7),
    ("anthropic", "claude-sonnet-4-0", CLAUDE_4),
    ("anthropic", "claude-sonnet-4-20", CLAUDE_4),
    ("anthropic", "claude-sonnet-4@", CLAUDE_4),
    ("anthropic", "claude-sonnet-4-5", CLAUDE_4_5),
    ("minimax", "", MINIMAX),
    ("gemini", "", GEMINI),
    ("gemini", "gemini-1", GEMINI_2_0),
    ("gemini", "gemini-2.0", GEMINI_2_0),
    ("gemini", "gemini-3", GEMINI_3),
    ("gemini", "gemini-3-pro", GEMINI_3_PRO),
    ("gemini", "gemini-3.1-pro", GEMINI_3_1_PRO),
    ("gemini", "gemma-4", GEMINI_3),
    ("bedrock", "", BEDROCK),
    ("bedrock", "amazon.nova-2", NOVA_2),
    ("bedrock", "openai.gpt-oss", BEDROCK_LEVELS),
    ("bigmodel", "", JSON_OBJECT_AND_FREE_TOOLS),
    ("deepseek", "", DEEPSEEK),
    ("deepseek", "deepseek-reasoner", DEEPSEEK_REASONER),
    ("groq", "", GROQ),
    ("groq", "meta-llama/llama-4", UNKNOWN),
    ("groq", "moonshotai/kimi-k2", UNKNOWN),
    ("groq", "openai/gpt-oss", GPT_OSS),
    ("kimi", "", JSON_OBJECT_AND_FREE_TOOLS),
    ("moonshot", "", JSON_OBJECT_AND_FREE_TOOLS),
    ("ollama", "", OLLAMA),
    ("ollama_cloud", "", OLLAMA),
    ("llama_cpp", "", ANY_TOOL),
    ("lm_studio", "", ANY_TOOL),
    ("perplexity", "", NO_TOOLS),
    ("xai", "grok-3-mini", GROK_3_MINI),
    ("zai", "", JSON_OBJECT_AND_FREE_TOOLS),
];

/// The prefixes of inference profiles, which Bedrock serves in several regions.
const BEDROCK_PROFILES: [&str; 7] = ["us", "eu", "apac", "au", "jp", "us-gov", "global"];

/// What is known of a model of a provider of the table, or of an unknown server.
pub(super) fn of(provider: Option<&str>, model: &str) -> Capabilities {
    // Platforms and gateways write something before the name, and other punctuation in it.
    let (table, name) = match (provider, model.find("claude")) {
        (Some("anthropic" | "bedrock"), Some(start)) => {
            ("anthropic", model[start..].replace('.', "-"))
        }
        (Some("azure"), _) => ("openai", model.to_string()),
        (Some("vertex"), _) => ("gemini", model.to_string()),
        (Some("bedrock"), _) => {
            let (before, after) = model.split_once('.').unwrap_or(("", model));
            let is_profile = BEDROCK_PROFILES.contains(&before);
            let name = if is_profile { after } else { model };
            ("bedrock", name.to_string())
        }
        (Some(provider), _) => {
            let name = model.strip_prefix("ft:").unwrap_or(model);
            (provider, name.to_string())
        }
        (None, _) => return UNKNOWN,
    };
    let rows = MODELS.iter();
    let rows = rows.filter(|(provider, start, _)| *provider == table && name.starts_with(start));
    let best = rows.max_by_key(|(_, start, _)| start.len());
    best.map_or(UNKNOWN, |(_, _, known)| *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_reason_are_known() {
        for model in [
            "gpt-5",
            "gpt-5-mini",
            "gpt-5-codex",
            "o3-mini",
            "o4",
            "codex-mini",
            "gpt-10",
        ] {
            assert!(of(Some("openai"), model).reasoning, "{model}");
        }
        for model in [
            "gpt-4o",
            "gpt-4.1-mini",
            "chatgpt-4o-latest",
            "gpt-5-chat-latest",
            "ft:gpt-4o-mini:petals",
            "open",
        ] {
            assert!(!of(Some("openai"), model).reasoning, "{model}");
        }
    }

    #[test]
    fn the_longest_start_of_a_name_counts() {
        for (provider, model, expected) in [
            ("openai", "gpt-3.5-turbo", GPT_3_5),
            ("openai", "gpt-4-turbo", OPENAI_OLD),
            ("openai", "gpt-4o-mini", OPENAI),
            ("openai", "gpt-5.1-codex-max", CODEX_MAX),
            ("openai", "gpt-5.2", GPT_5_2),
            ("azure", "gpt-4o", OPENAI),
            ("anthropic", "claude-3-haiku-20240307", CLAUDE_3),
            ("anthropic", "claude-3-7-sonnet-latest", CLAUDE_4),
            ("anthropic", "claude-opus-4-20250514", CLAUDE_4),
            ("anthropic", "claude-opus-4@20250514", CLAUDE_4),
            ("anthropic", "claude-opus-4-5-20251101", CLAUDE_4_5),
            ("anthropic", "anthropic/claude-sonnet-4.5", CLAUDE_4_5),
            ("anthropic", "claude-sonnet-4-6", CLAUDE),
            ("anthropic", "claude-opus-4-7", CLAUDE_4_7),
            (
                "bedrock",
                "eu.anthropic.claude-sonnet-4-20250514-v1:0",
                CLAUDE_4,
            ),
            ("bedrock", "us.amazon.nova-2-lite-v1:0", NOVA_2),
            ("bedrock", "meta.llama3-3-70b-instruct-v1:0", BEDROCK),
            ("vertex", "gemini-3-flash-preview", GEMINI_3),
            ("groq", "llama-3.3-70b-versatile", GROQ),
            ("groq", "openai/gpt-oss-20b", GPT_OSS),
            ("nobody", "claude-3", UNKNOWN),
        ] {
            assert_eq!(of(Some(provider), model), expected, "{provider} {model}");
        }
        assert_eq!(of(None, "gpt-3.5-turbo"), UNKNOWN);
    }

    #[test]
    fn rows_are_written_once_and_their_providers_exist() {
        for (index, (provider, start, _)) in MODELS.iter().enumerate() {
            let is_known = crate::provider::catalog::provider(provider).is_some();
            assert!(is_known || *provider == "bedrock", "{provider}");
            let same = |row: &&(&str, &str, Capabilities)| row.0 == *provider && row.1 == *start;
            assert_eq!(
                MODELS[..index].iter().find(same),
                None,
                "{provider} {start}"
            );
        }
    }
}
