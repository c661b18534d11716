//! Reads the uses of native tools from what providers sent. The parts stay as they came, because the provider needs them
//! back unchanged.

use serde_json::Value;

use super::{CodeOutput, FoundFile, NativeAction, NativeOutcome, NativeUse, Source};
use crate::message::{Media, MediaSource};
use crate::{ChatMessage, Part};

/// The uses of native tools in these parts, in order. A use whose outcome is in a later part has it: an answer that the
/// provider paused has them in several messages.
///
/// ```
/// use petalflow_llm::{ChatMessage, native};
///
/// let conversation = [ChatMessage::user("hello"), ChatMessage::assistant("hi")];
/// let parts = conversation.iter().flat_map(|message| &message.parts);
/// assert!(native::uses(parts).is_empty());
/// ```
pub fn uses<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Vec<NativeUse> {
    let mut uses: Vec<NativeUse> = Vec::new();
    for part in parts {
        match part {
            // At OpenAI, such a call is one of the program.
            Part::Provider { provider, value }
                if value["type"] == "custom_tool_call" && provider != "xai_resp" => {}
            Part::Provider { value, .. } => read_value(value, &mut uses),
            Part::Code { language, code, .. } => uses.push(NativeUse {
                id: String::new(),
                action: NativeAction::RunCode {
                    language: language.to_lowercase(),
                    code: code.clone(),
                },
                outcome: None,
            }),
            Part::CodeResult {
                outcome, output, ..
            } => {
                let last = uses.last_mut().filter(|last| last.outcome.is_none());
                if let Some(last) = last {
                    last.outcome = Some(printed(outcome, output));
                }
            }
            _ => {}
        }
    }
    uses
}

impl ChatMessage {
    /// What the tools that the provider runs itself did, and what came of it. For an answer that the provider paused, which
    /// is several messages, see [`native::uses`](crate::native::uses).
    ///
    /// ```
    /// assert!(petalflow_llm::ChatMessage::assistant("hello").native_uses().is_empty());
    /// ```
    pub fn native_uses(&self) -> Vec<NativeUse> {
        uses(&self.parts)
    }
}

/// What Gemini says of code that ran.
fn printed(outcome: &str, output: &str) -> NativeOutcome {
    match outcome {
        "OUTCOME_OK" => NativeOutcome::Code(CodeOutput {
            stdout: output.to_string(),
            ..CodeOutput::default()
        }),
        _ => NativeOutcome::Failed(format!("{outcome}: {output}")),
    }
}

fn read_value(value: &Value, uses: &mut Vec<NativeUse>) {
    if let Some(result) = value.get("toolResponse") {
        let found = uses.iter_mut().find(|used| used.id == text(result, "id"));
        if let Some(used) = found {
            used.outcome = result.get("response").cloned().map(NativeOutcome::Other);
        }
        return;
    }
    if let Some(result) = value.get("toolResult") {
        let id = text(result, "toolUseId");
        if let Some(used) = uses.iter_mut().find(|used| used.id == id) {
            used.outcome = Some(outcome_of_nova(result));
        }
        return;
    }
    if let Some(call) = value.get("toolUse") {
        uses.push(NativeUse {
            id: text(call, "toolUseId"),
            action: action_of_nova(call),
            outcome: None,
        });
        return;
    }
    if let Some(id) = value.get("tool_use_id").and_then(Value::as_str) {
        let found = uses.iter_mut().find(|used| used.id == id);
        if let Some(used) = found {
            used.outcome = Some(outcome_of_block(&value["content"]));
        }
        return;
    }
    if let Some(found) = value.get("groundingMetadata") {
        let (action, outcome) = grounding(found);
        // Newer models send the call as a part too.
        let same = std::mem::discriminant(&action);
        let called = uses.iter_mut().rfind(|used| {
            let is_open = !matches!(
                used.outcome,
                Some(NativeOutcome::Sources(_) | NativeOutcome::Files(_))
            );
            is_open && std::mem::discriminant(&used.action) == same
        });
        match called {
            Some(used) => used.outcome = Some(outcome),
            None => uses.push(NativeUse {
                id: String::new(),
                action,
                outcome: Some(outcome),
            }),
        }
        return;
    }
    let read = match value["type"].as_str() {
        Some("server_tool_use") => Some((action_of_block(value), None)),
        Some("web_search_call") => Some(web_search_call(value)),
        Some("code_interpreter_call") => Some(code_interpreter_call(value)),
        Some("file_search_call") => Some(file_search_call(value)),
        Some("x_search_call" | "custom_tool_call") => Some((action_of_xai(value), failure(value))),
        Some("image_generation_call") => Some(image_generation_call(value)),
        _ => value.get("toolCall").map(|call| (tool_call(call), None)),
    };
    uses.extend(read.map(|(action, outcome)| NativeUse {
        id: match text(value, "id") {
            id if id.is_empty() => text(&value["toolCall"], "id"),
            id => id,
        },
        action,
        outcome,
    }));
}

/// A block in which Nova uses a tool of Amazon.
fn action_of_nova(call: &Value) -> NativeAction {
    let input = &call["input"];
    match call["name"].as_str().unwrap_or_default() {
        "nova_grounding" => NativeAction::SearchWeb {
            queries: texts(&input["query"]),
        },
        "nova_code_interpreter" => run("python", text(input, "snippet")),
        name => NativeAction::Other {
            name: name.to_string(),
            input: input.clone(),
        },
    }
}

/// The result of such a block. It is JSON, or a text of JSON that may be in pieces.
fn outcome_of_nova(result: &Value) -> NativeOutcome {
    let content = &result["content"];
    let words: String = items(content)
        .filter_map(|one| one["text"].as_str())
        .collect();
    let read = items(content).find_map(|one| one.get("json")).cloned();
    let read = read.or_else(|| serde_json::from_str(&words).ok());
    let Some(read) = read.filter(|read| read["stdOut"].is_string()) else {
        return match &result["status"] {
            status if status == "error" => NativeOutcome::Failed(words),
            _ => NativeOutcome::Other(content.clone()),
        };
    };
    NativeOutcome::Code(CodeOutput {
        stdout: text(&read, "stdOut"),
        stderr: text(&read, "stdErr"),
        return_code: read["exitCode"].as_i64(),
        ..CodeOutput::default()
    })
}

/// A block in which Claude uses a tool of Anthropic.
fn action_of_block(block: &Value) -> NativeAction {
    let input = &block["input"];
    match block["name"].as_str().unwrap_or_default() {
        "web_search" => NativeAction::SearchWeb {
            queries: texts(&input["query"]),
        },
        "web_fetch" => NativeAction::OpenPage {
            url: text(input, "url"),
        },
        "code_execution" => run("python", text(input, "code")),
        "bash_code_execution" => run("bash", text(input, "command")),
        "text_editor_code_execution" => NativeAction::EditFile {
            command: text(input, "command"),
            path: text(input, "path"),
        },
        name => NativeAction::Other {
            name: name.to_string(),
            input: input.clone(),
        },
    }
}

/// The content of the result of such a block.
fn outcome_of_block(content: &Value) -> NativeOutcome {
    if let Some(pages) = content.as_array() {
        return NativeOutcome::Sources(pages.iter().filter_map(web_page).collect());
    }
    if let Some(code) = content.get("error_code").and_then(Value::as_str) {
        return NativeOutcome::Failed(code.to_string());
    }
    match content["type"].as_str().unwrap_or_default() {
        "web_fetch_result" => NativeOutcome::Sources(web_page(content).into_iter().collect()),
        "code_execution_result"
        | "bash_code_execution_result"
        | "encrypted_code_execution_result" => NativeOutcome::Code(CodeOutput {
            stdout: text(content, "stdout"),
            stderr: text(content, "stderr"),
            return_code: content["return_code"].as_i64(),
            files: items(&content["content"])
                .filter_map(|file| file["file_id"].as_str())
                .map(str::to_string)
                .collect(),
            images: Vec::new(),
        }),
        _ => NativeOutcome::Other(content.clone()),
    }
}

fn web_page(page: &Value) -> Option<Source> {
    Some(Source::Web {
        url: page["url"].as_str()?.to_string(),
        title: page["title"].as_str().map(str::to_string),
    })
}

/// A search of posts, or another tool that xAI ran, whose input is a text of JSON.
fn action_of_xai(item: &Value) -> NativeAction {
    let written = ["input", "arguments"].into_iter().map(|it| &item[it]);
    let input = written
        .filter_map(Value::as_str)
        .find_map(|text| serde_json::from_str(text).ok());
    let input: Value = input.unwrap_or_else(|| item["input"].clone());
    let name = match text(item, "name") {
        name if name.is_empty() => "x_search".to_string(),
        name => name,
    };
    let queries = texts(&input["query"]);
    if queries.is_empty() {
        return NativeAction::Other { name, input };
    }
    match &*name {
        name if name.starts_with("x_") => NativeAction::SearchPosts { queries },
        name if name.starts_with("web_search") => NativeAction::SearchWeb { queries },
        _ => NativeAction::Other { name, input },
    }
}

/// A search of OpenAI, which is a call and its outcome in one.
fn web_search_call(item: &Value) -> (NativeAction, Option<NativeOutcome>) {
    let action = &item["action"];
    let found = action["sources"]
        .is_array()
        .then(|| items(&action["sources"]).filter_map(web_page).collect());
    let read = match action["type"].as_str().unwrap_or_default() {
        "open_page" => NativeAction::OpenPage {
            url: text(action, "url"),
        },
        "find_in_page" | "find" => NativeAction::FindInPage {
            url: text(action, "url"),
            pattern: text(action, "pattern"),
        },
        _ if action["queries"].is_array() => NativeAction::SearchWeb {
            queries: texts(&action["queries"]),
        },
        _ => NativeAction::SearchWeb {
            queries: texts(&action["query"]),
        },
    };
    (read, failure(item).or(found.map(NativeOutcome::Sources)))
}

fn code_interpreter_call(item: &Value) -> (NativeAction, Option<NativeOutcome>) {
    let mut output = CodeOutput::default();
    for one in items(&item["outputs"]) {
        match one["type"].as_str() {
            Some("logs") => output.stdout.push_str(&text(one, "logs")),
            Some("image") => output
                .images
                .push(image(one["url"].as_str().unwrap_or_default())),
            _ => {}
        }
    }
    let outcome = item["outputs"]
        .is_array()
        .then_some(NativeOutcome::Code(output));
    let mut code = text(item, "code");
    if code.is_empty() {
        // xAI sends it as the arguments of a call.
        let arguments = item["arguments"].as_str();
        let arguments = arguments.and_then(|it| serde_json::from_str::<Value>(it).ok());
        code = arguments.map(|it| text(&it, "code")).unwrap_or_default();
    }
    (run("python", code), failure(item).or(outcome))
}

fn file_search_call(item: &Value) -> (NativeAction, Option<NativeOutcome>) {
    let found = items(&item["results"]).map(|file| FoundFile {
        id: file["file_id"].as_str().map(str::to_string),
        name: file["filename"].as_str().map(str::to_string),
        text: text(file, "text"),
        score: file["score"].as_f64(),
    });
    let outcome = item["results"]
        .is_array()
        .then(|| NativeOutcome::Files(found.collect()));
    let queries = texts(&item["queries"]);
    (
        NativeAction::SearchFiles { queries },
        failure(item).or(outcome),
    )
}

fn image_generation_call(item: &Value) -> (NativeAction, Option<NativeOutcome>) {
    let drawn = item["result"].as_str().map(|data| {
        let format = item["output_format"].as_str().unwrap_or("png");
        NativeOutcome::Image(Media {
            media_type: format!("image/{format}"),
            source: MediaSource::Base64(data.to_string()),
            origin: None,
        })
    });
    let prompt = item["revised_prompt"].as_str().map(str::to_string);
    (NativeAction::DrawImage { prompt }, failure(item).or(drawn))
}

/// The outcome of an item of OpenAI that has failed.
fn failure(item: &Value) -> Option<NativeOutcome> {
    let has_failed = item["status"] == "failed";
    has_failed.then(|| NativeOutcome::Failed("failed".to_string()))
}

/// A part in which Gemini uses a tool of Google.
fn tool_call(call: &Value) -> NativeAction {
    let queries = texts(&call["args"]["queries"]);
    match call["toolType"].as_str().unwrap_or_default() {
        "GOOGLE_SEARCH_WEB" => NativeAction::SearchWeb { queries },
        "FILE_SEARCH" => NativeAction::SearchFiles { queries },
        name => NativeAction::Other {
            name: name.to_string(),
            input: call["args"].clone(),
        },
    }
}

/// What Gemini says of its search at the end of an answer.
fn grounding(metadata: &Value) -> (NativeAction, NativeOutcome) {
    let chunks = || items(&metadata["groundingChunks"]);
    let files: Vec<FoundFile> = chunks()
        .filter_map(|chunk| chunk.get("retrievedContext"))
        .map(|found| FoundFile {
            id: found["uri"].as_str().map(str::to_string),
            name: found["title"].as_str().map(str::to_string),
            text: text(found, "text"),
            score: None,
        })
        .collect();
    if !files.is_empty() {
        let queries = texts(&metadata["retrievalQueries"]);
        return (
            NativeAction::SearchFiles { queries },
            NativeOutcome::Files(files),
        );
    }
    let pages = chunks().filter_map(|chunk| {
        let page = chunk.get("web")?;
        Some(Source::Web {
            url: page["uri"].as_str()?.to_string(),
            title: page["title"].as_str().map(str::to_string),
        })
    });
    let action = NativeAction::SearchWeb {
        queries: texts(&metadata["webSearchQueries"]),
    };
    (action, NativeOutcome::Sources(pages.collect()))
}

fn run(language: &str, code: String) -> NativeAction {
    NativeAction::RunCode {
        language: language.to_string(),
        code,
    }
}

/// A picture at an address, which may have its data.
fn image(url: &str) -> Media {
    let data = url.strip_prefix("data:");
    let data = data.and_then(|data| data.split_once(";base64,"));
    let (media_type, source) = match data {
        Some((media_type, data)) => (media_type, MediaSource::Base64(data.to_string())),
        None => ("image/png", MediaSource::Url(url.to_string())),
    };
    Media {
        media_type: media_type.to_string(),
        source,
        origin: None,
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_string()
}

/// A text, or a list of them.
fn texts(value: &Value) -> Vec<String> {
    let one = value.as_str().map(str::to_string);
    let many = items(value).filter_map(|text| text.as_str().map(str::to_string));
    one.into_iter().chain(many).collect()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
