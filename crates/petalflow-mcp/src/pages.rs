//! Lists that a server sends in pages.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// The most items of a page.
const PAGE: usize = 100;

/// The items of a page, and the cursor of the next one. The list is the same for as long as the server runs.
pub(super) fn page<T: Clone>(
    items: &[T],
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(start) if start < items.len() => start,
            _ => {
                let message = format!("`{cursor}` is no cursor of this list");
                return Err(ErrorData::invalid_params(message, None));
            }
        },
    };
    let end = items.len().min(start + PAGE);
    let next = (end < items.len()).then(|| end.to_string());
    Ok((items[start..end].to_vec(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_all_items_once() {
        for count in [0, 1, PAGE, PAGE + 1, 3 * PAGE] {
            let items: Vec<usize> = (0..count).collect();
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let request = PaginatedRequestParams::default().with_cursor(cursor);
                let (page_items, next) = page(&items, Some(request)).unwrap();
                all.extend(page_items);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(all, items);
        }
        for cursor in ["x", "-1", "3", "99999999999999999999999"] {
            let request = PaginatedRequestParams::default().with_cursor(Some(cursor.into()));
            assert!(page(&[1, 2, 3], Some(request)).is_err(), "{cursor}");
        }
    }
}
