//! The order of tools for a search: the ranking function BM25 over the words of their names, descriptions and arguments.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow::tool::ToolSpec;
use serde_json::Value;

/// How much a further occurrence of a word adds, as is usual for BM25.
const SATURATION: f64 = 1.2;
/// How much long texts count less, as is usual for BM25.
const LENGTH: f64 = 0.75;
/// How often a word in the name of a tool counts.
const NAME: f64 = 3.0;
/// How much a word counts of which the query has only the start, or of which it has a longer form.
const RELATED: f64 = 0.5;
/// The smallest share of the best score. What is below it has only words such as `the`.
const RELEVANT: f64 = 0.25;
/// The minimum number of letters in the start of a word that relates two words.
const STEM: usize = 4;

/// The tools that have a word of the query, best first. Equally good ones keep their order.
pub(super) fn ranked<'t>(tools: &'t [Arc<ToolSpec>], query: &str) -> Vec<&'t Arc<ToolSpec>> {
    let texts: Vec<Text> = tools.iter().map(|tool| Text::of(tool)).collect();
    let mean = texts.iter().map(|text| text.length).sum::<f64>() / count(texts.len());
    let mut scores = vec![0.0; texts.len()];
    for word in words(query) {
        let counts: Vec<f64> = texts.iter().map(|text| text.count(&word)).collect();
        let with_word = count(counts.iter().filter(|count| **count > 0.0).count());
        let rarity = (1.0 + (count(texts.len()) - with_word + 0.5) / (with_word + 0.5)).ln();
        for ((score, text), count) in scores.iter_mut().zip(&texts).zip(counts) {
            let length = 1.0 - LENGTH + LENGTH * text.length / mean;
            *score += rarity * count * (SATURATION + 1.0) / (count + SATURATION * length);
        }
    }
    let mut scored: Vec<(&Arc<ToolSpec>, f64)> = tools.iter().zip(scores).collect();
    let best = scored.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    scored.retain(|(_, score)| *score > 0.0 && *score >= best * RELEVANT);
    scored.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    scored.into_iter().map(|(tool, _)| tool).collect()
}

#[expect(clippy::cast_precision_loss, reason = "there are not so many tools")]
const fn count(number: usize) -> f64 {
    number as f64
}

/// The words of a tool, and how often each of them counts.
#[derive(Default)]
struct Text {
    counts: HashMap<String, f64>,
    length: f64,
}

impl Text {
    fn of(tool: &ToolSpec) -> Self {
        let mut text = Text::default();
        text.add(&tool.name, NAME);
        text.add(&tool.description, 1.0);
        text.add_schema(&tool.parameters);
        text
    }

    fn add(&mut self, text: &str, weight: f64) {
        for word in words(text) {
            *self.counts.entry(word).or_default() += weight;
            self.length += weight;
        }
    }

    /// Adds the names of all properties, and all descriptions.
    fn add_schema(&mut self, schema: &Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.add_schema(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if name == "description" => self.add(text, 1.0),
                        Value::Object(properties) if name == "properties" => {
                            for (name, schema) in properties {
                                self.add(name, 1.0);
                                self.add_schema(schema);
                            }
                        }
                        value => self.add_schema(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// How often the word counts.
    fn count(&self, word: &str) -> f64 {
        let exact = self.counts.get(word).copied().unwrap_or_default();
        let others = self
            .counts
            .iter()
            .filter(|(other, _)| is_related(other, word));
        exact + others.map(|(_, count)| count * RELATED).sum::<f64>()
    }
}

/// Whether one of two different words is the start of the other one, such as `refund` and `refunds`.
fn is_related(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    short != long && short.chars().count() >= STEM && long.starts_with(short)
}

/// The words of a text, or of a name such as `send_email` or `sendEmail`, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    for letter in text.chars() {
        let continues = before.is_some_and(char::is_alphanumeric)
            && !(letter.is_uppercase() && before.is_some_and(char::is_lowercase));
        if letter.is_alphanumeric() {
            if !continues {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = Some(letter);
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, description: &str, parameters: Value) -> Arc<ToolSpec> {
        Arc::new(ToolSpec::new(name, description, parameters))
    }

    fn found(query: &str) -> Vec<String> {
        let to = json!({ "type": "object", "properties": { "recipient": { "description": "Who gets it." } } });
        let none = || json!({ "type": "object" });
        let tools = [
            tool("create_issue", "Creates an issue in a repository.", none()),
            tool("sendEmail", "Sends a text.", to),
            tool("refund_order", "Pays back the money of an order.", none()),
            tool("list_orders", "Lists the orders of a customer.", none()),
            tool("天气", "查询天气", none()),
        ];
        let ranked = ranked(&tools, query).into_iter();
        ranked.map(|tool| tool.name.clone()).collect()
    }

    #[test]
    fn f44_the_best_tools_are_first() {
        assert_eq!(found("refund order"), ["refund_order", "list_orders"]);
        assert_eq!(found("Orders!"), ["list_orders", "refund_order"]);
        assert_eq!(found("email"), ["sendEmail"]);
        // The names and the descriptions of arguments.
        assert_eq!(found("recipients"), ["sendEmail"]);
        assert_eq!(found("who"), ["sendEmail"]);
        assert_eq!(found("create issues"), ["create_issue"]);
        assert_eq!(found("天气"), ["天气"]);
        assert!(found("weather").is_empty());
        assert!(found("  -- ").is_empty());
        assert!(ranked(&[], "order").is_empty());
    }

    #[test]
    fn f44_names_are_split_into_words() {
        let words = |text| words(text).collect::<Vec<_>>();
        assert_eq!(
            words("send_email-v2 getHTTPUrl"),
            ["send", "email", "v2", "get", "httpurl"]
        );
        assert!(words("").is_empty());
    }
}
