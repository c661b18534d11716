//! What Azure's content filter found.

use serde_json::Value;

/// The results for the answer, as a field of the response and of its `meta`.
pub(super) const RESULTS: &str = "content_filter_results";

/// The categories in the results for which it filtered.
pub(super) fn filtered_categories(results: &Value) -> Vec<&str> {
    let results = results.as_object().into_iter().flatten();
    let filtered = results.filter(|(_, result)| result["filtered"] == true);
    filtered.map(|(category, _)| category.as_str()).collect()
}
