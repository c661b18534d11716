//! Media types.

/// The media type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether a media type is that of JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

/// Whether a media type is that of files which are no texts.
pub(super) fn is_file(media_type: &str) -> bool {
    let essence = essence(media_type);
    let kind = essence.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video" | "font")
        || matches!(
            &*essence,
            "application/octet-stream"
                | "application/pdf"
                | "application/zip"
                | "application/gzip"
                | "application/x-tar"
        )
}

/// Whether it is one media type, and not a range such as `image/*`.
pub(super) fn is_exact(media_type: &str) -> bool {
    !media_type.contains('*')
}

/// A list of media types: `image/png, image/*`.
pub(super) fn list(text: &str) -> Result<Vec<String>, String> {
    let listed = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    let listed = listed.map(|it| {
        let shown = it.escape_debug();
        let problem = || format!("`{shown}` is no media type: write one such as `image/png`");
        is_valid(it).then(|| it.to_owned()).ok_or_else(problem)
    });
    listed.collect()
}

/// Whether it is a media type, perhaps with parameters, and can be the value of a header.
pub(super) fn is_valid(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
    };
    let mut parts = text.split(';');
    let halves = parts.next().and_then(|it| it.trim().split_once('/'));
    let is_parameter = |it: &str| it.chars().all(|c| matches!(c, ' '..='~'));
    halves.is_some_and(|(kind, of)| is_token(kind) && is_token(of)) && parts.all(is_parameter)
}

/// Whether a media type is in a list, which may have ranges. Parameters do not count.
pub(super) fn is_in(media_type: &str, allowed: &[String]) -> bool {
    let wanted = essence(media_type);
    allowed.iter().map(|it| essence(it)).any(|allowed| {
        let range = allowed.strip_suffix('*');
        allowed == "*/*"
            || allowed == wanted
            || range.is_some_and(|kind| kind.ends_with('/') && wanted.starts_with(kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f44_6_media_types_are_checked() {
        for valid in [
            "image/png",
            "text/plain; charset=utf-8",
            "image/*",
            "application/vnd.a+json",
        ] {
            assert!(is_valid(valid), "{valid}");
        }
        for wrong in [
            "",
            "png",
            "image/",
            "/png",
            "image/p ng",
            "a/b\r\nX: 1",
            "a/b; c=\n",
            "a/b/c",
        ] {
            assert!(!is_valid(wrong), "{wrong:?}");
        }
        let allowed = list("image/*, text/csv").unwrap();
        assert!(is_in("image/png", &allowed) && is_in("Text/CSV; header=present", &allowed));
        assert!(!is_in("imagex/png", &allowed) && !is_in("text/plain", &allowed));
        assert!(is_in("a/b", &list("*/*").unwrap()));
    }
}
