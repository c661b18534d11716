//! What Azure's content filter found.

use serde_json::Value;

/// The name of the field with the results for the answer, in the response and in its `meta`.
pub(super) const RESULTS: &str = "content_filter_results";

/// The categories because of which the filter stopped the text.
pub(super) fn filtered_categories(results: &Value) -> Vec<&str> {
    let results = results.as_object().into_iter().flatten();
    let filtered = results.filter(|(_, result)| result["filtered"] == true);
    filtered.map(|(category, _)| category.as_str()).collect()
}
