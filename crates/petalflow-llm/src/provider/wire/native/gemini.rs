//! The native tools of Gemini.

use serde_json::{Map, Value, json};

use crate::native::NativeTool;
use crate::provider::catalog::{Platform, Target};
use crate::provider::wire::gemini_computer;
use crate::stream::Delta;
use crate::{LlmRequest, Part};

/// The field of a candidate, and of the part that is made of it, with what was searched and found.
pub(crate) const GROUNDING: &str = "groundingMetadata";

/// Adds the tools to the body, beside the functions.
pub(crate) fn add(body: &mut Value, target: &Target<'_>, request: &LlmRequest) {
    let mut sent: Vec<Value> = Vec::new();
    for tool in request.native_tools.iter() {
        match tool {
            NativeTool::WebSearch(search) if search.blocked_domains.is_empty() => {
                sent.push(json!({ "googleSearch": {} }));
            }
            NativeTool::WebSearch(search) => {
                let without = json!({ "excludeDomains": search.blocked_domains });
                sent.push(json!({ "googleSearch": without }));
            }
            NativeTool::CodeExecution(_) => {
                sent.push(json!({ "codeExecution": {} }));
            }
            NativeTool::FileSearch(search) => {
                let mut fields = json!({ "fileSearchStoreNames": search.stores });
                if let Some(results) = search.max_results {
                    fields["topK"] = results.into();
                }
                if let Some(filter) = search.filter.as_str() {
                    fields["metadataFilter"] = filter.into();
                }
                sent.push(json!({ "fileSearch": fields }));
            }
            NativeTool::ComputerUse(computer) => sent.push(gemini_computer::tool(computer)),
            // An option of the answer, and what was refused before.
            NativeTool::ImageGeneration(_) | NativeTool::XSearch(_) => {}
        }
    }
    if sent.is_empty() {
        return;
    }
    let is_run_by_provider = |tool: &Value| tool.get("computerUse").is_none();
    let has_invocations = sent.iter().any(is_run_by_provider);
    match &mut body["tools"] {
        Value::Array(others) => {
            others.extend(sent);
            // Models of the third generation take both together only so. Older ones, and Vertex AI, refuse the field.
            if has_invocations
                && target.model.contains("gemini-3")
                && target.platform != Platform::Vertex
            {
                body["toolConfig"]["includeServerSideToolInvocations"] = true.into();
            }
        }
        none => *none = sent.into(),
    }
}

/// The options of the answer with which a model draws.
pub(crate) fn image_config(request: &LlmRequest) -> Option<Value> {
    let image = request.native_tools.iter().find_map(|tool| match tool {
        NativeTool::ImageGeneration(image) => Some(image),
        _ => None,
    })?;
    let mut config = json!({});
    for (name, value) in [
        ("aspectRatio", &image.aspect_ratio),
        ("imageSize", &image.size),
    ] {
        if let Some(value) = value {
            config[name] = value.as_str().into();
        }
    }
    Some(config)
}

/// What was searched and found, as a part: it is not in the parts of the answer, and a program reads it there. It is not sent
/// back. Without Google's box of suggestions, which is only in the data of the response.
pub(crate) fn grounding_part(metadata: &Value) -> Option<Delta> {
    const KEPT: [&str; 3] = ["webSearchQueries", "retrievalQueries", "groundingChunks"];
    let fields = KEPT.into_iter().filter_map(|name| {
        let value = metadata.get(name)?.as_array()?;
        (!value.is_empty()).then(|| (name.to_string(), Value::Array(value.clone())))
    });
    let fields: Map<String, Value> = fields.collect();
    (!fields.is_empty()).then(|| {
        Delta::Part(Part::Provider {
            provider: String::new(),
            value: json!({ GROUNDING: fields }),
        })
    })
}
