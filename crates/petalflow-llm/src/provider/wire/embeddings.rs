//! Requests for the vectors of texts.

use serde_json::{Value, json};

use crate::provider::catalog::{Family, Platform, Target};

/// The maximum size of the texts in one request, in bytes. OpenAI accepts 300,000 tokens.
const MAX_BYTES: usize = 800_000;

/// The texts in as many parts as requests are needed, for a provider that takes this number of texts in one.
pub(super) fn batches(texts: &[String], most: usize) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        let is_full = index - start >= most.max(1) || bytes + text.len() > MAX_BYTES;
        if is_full && index > start {
            batches.push(&texts[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.len();
    }
    batches.push(&texts[start..]);
    batches
}

/// The path and the body of a request. `None` for a provider without embeddings.
pub(super) fn request(target: &Target<'_>, texts: &[String]) -> Option<(String, Value)> {
    match target.family {
        Family::Chat | Family::Responses => {
            let body = json!({ "model": target.model, "input": texts, "encoding_format": "float" });
            Some((target.embeddings_path(), body))
        }
        Family::Gemini if target.platform == Platform::Vertex => {
            let instances = texts.iter().map(|text| json!({ "content": text }));
            let body = json!({ "instances": instances.collect::<Value>() });
            Some((format!("{}:predict", target.gemini_model()), body))
        }
        Family::Gemini => {
            let model = target.gemini_model();
            let requests = texts
                .iter()
                .map(|text| json!({ "model": model, "content": { "parts": [{ "text": text }] } }));
            let body = json!({ "requests": requests.collect::<Value>() });
            Some((format!("{model}:batchEmbedContents"), body))
        }
        Family::Messages => None,
        #[cfg(feature = "bedrock")]
        Family::Converse => None,
    }
}

/// The vectors in an answer, in the order of the texts. `None` if there is not one for each text.
pub(super) fn vectors(body: &Value, texts: usize) -> Option<Vec<Vec<f32>>> {
    let lists = [
        ("data", "/embedding"),
        ("embeddings", "/values"),
        ("predictions", "/embeddings/values"),
    ];
    let mut lists = lists.iter();
    let (list, path) = lists.find_map(|(list, path)| Some((body[list].as_array()?, *path)))?;
    let mut vectors = vec![Vec::new(); texts];
    for (position, item) in (0..).zip(list) {
        // The items of OpenAI's format have an index.
        let index = item["index"].as_u64().unwrap_or(position);
        let slot = vectors.get_mut(usize::try_from(index).ok()?)?;
        let numbers = item.pointer(path)?.as_array()?.iter();
        #[expect(clippy::cast_possible_truncation, reason = "vectors have few digits")]
        let numbers = numbers.map(|number| Some(number.as_f64()? as f32));
        *slot = numbers.collect::<Option<_>>()?;
    }
    let complete = vectors.iter().all(|vector| !vector.is_empty());
    complete.then_some(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_by_their_number_and_their_size() {
        let lengths = |texts: &[String], most: usize| -> Vec<usize> {
            batches(texts, most)
                .iter()
                .map(|batch| batch.len())
                .collect()
        };
        let short = vec!["petal".to_string(); 250];
        assert_eq!(lengths(&short, 100), [100, 100, 50]);
        assert_eq!(lengths(&short, 250), [250]);
        assert_eq!(lengths(&short[..1], 0), [1]);
        let long = vec!["p".repeat(MAX_BYTES / 2); 3];
        assert_eq!(lengths(&long, 100), [2, 1]);
        assert_eq!(lengths(&["p".repeat(MAX_BYTES * 2)], 100), [1]);
    }

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let body =
            json!({"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1]}]});
        assert_eq!(vectors(&body, 2), Some(vec![vec![1.0], vec![2.0]]));
        let body = json!({"embeddings": [{"values": [0.5, 1.0]}]});
        assert_eq!(vectors(&body, 1), Some(vec![vec![0.5, 1.0]]));
        let body = json!({"predictions": [{"embeddings": {"values": [0.5]}}]});
        assert_eq!(vectors(&body, 1), Some(vec![vec![0.5]]));
        for wrong in [
            json!({"data": [{"embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}),
            json!({"data": [{"embedding": ["x"]}, {"embedding": [1]}]}),
            json!({"predictions": [{"embeddings": {}}, {"embeddings": {"values": [1]}}]}),
            json!({"data": "none"}),
            json!([]),
        ] {
            assert_eq!(vectors(&wrong, 2), None, "{wrong}");
        }
    }
}
