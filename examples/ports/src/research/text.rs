//! The text of a page.

/// Elements whose contents nobody reads.
const HIDDEN: [&str; 5] = ["script", "style", "noscript", "svg", "head"];

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 14] = [
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "h1", "h2", "h3", "h4",
];

/// The text of HTML, without tags.
pub(super) fn of_html(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag_and_rest)) = rest.split_once('<') {
        text.push_str(before);
        let Some((tag, after)) = tag_and_rest.split_once('>') else {
            rest = "";
            break;
        };
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        if BLOCKS.contains(&&*name) {
            text.push('\n');
        }
        rest = after;
        if HIDDEN.contains(&&*name) && !tag.starts_with('/') {
            let end = format!("</{name}");
            let lower = rest.to_ascii_lowercase();
            rest = lower.find(&end).map_or("", |at| &rest[at..]);
        }
    }
    text.push_str(rest);
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&nbsp;", " ");
    let text = text.replace("&amp;", "&");
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::of_html;

    #[test]
    fn f44_a_page_becomes_its_text() {
        let html = "<html><head><title>x</title></head><body><h1>Roses</h1>\n<p>Five  petals &amp; <b>thorns</b>.</p>\
            <script>if (a < b) { c() }</script><ul><li>red<li>white</ul>";
        assert_eq!(of_html(html), "Roses\nFive petals & thorns.\nred\nwhite");
        assert_eq!(of_html("no tags"), "no tags");
        assert_eq!(of_html("cut <p"), "cut");
    }
}
