//! The response that arrives, and what of it was heard.

use super::BYTES_PER_MS;

/// A response that arrives.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    items: Vec<SpokenItem>,
}

/// A message of the response.
#[derive(Debug)]
struct SpokenItem {
    id: String,
    text: String,
    /// The bytes of its audio.
    audio: usize,
}

/// The part of a response that was heard.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// The messages that were heard, with their ids. The last one may have been cut.
    pub(super) messages: Vec<(String, String)>,
    /// The message that was cut, and its length up to there, in milliseconds.
    pub(super) cut: Option<(String, usize)>,
}

impl Incoming {
    pub(super) fn add_text(&mut self, item: &str, text: &str) {
        self.item(item).text.push_str(text);
    }

    pub(super) fn add_audio(&mut self, item: &str, bytes: usize) {
        self.item(item).audio += bytes;
    }

    /// The ids of its messages.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|item| &*item.id)
    }

    /// The text of a message as it arrived.
    pub(super) fn text(&self, item: &str) -> Option<&str> {
        let mut items = self.items.iter();
        items
            .find(|known| known.id == item)
            .map(|known| &*known.text)
    }

    /// What was heard when this number of bytes was played. The provider does not say when a word is spoken, so the words of
    /// a message that was cut are estimated: as many as its audio in proportion.
    pub(super) fn heard(&self, mut bytes: usize) -> Heard {
        let mut heard = Heard::default();
        for item in &self.items {
            if bytes >= item.audio {
                bytes -= item.audio;
                heard.messages.push((item.id.clone(), item.text.clone()));
                continue;
            }
            let text = start_of(&item.text, bytes, item.audio);
            if !text.is_empty() {
                heard.messages.push((item.id.clone(), text.to_string()));
            }
            heard.cut = Some((item.id.clone(), bytes / BYTES_PER_MS));
            break;
        }
        heard
    }

    fn item(&mut self, id: &str) -> &mut SpokenItem {
        let at = self.items.iter().position(|item| item.id == id);
        let at = at.unwrap_or_else(|| {
            self.items.push(SpokenItem {
                id: id.to_string(),
                text: String::new(),
                audio: 0,
            });
            self.items.len() - 1
        });
        &mut self.items[at]
    }
}

/// The words of the start of a text: this share of its characters, without a word that is cut.
fn start_of(text: &str, part: usize, whole: usize) -> &str {
    let count = text.chars().count();
    let count = count * part / whole.max(1);
    let Some((end, next)) = text.char_indices().nth(count) else {
        return text;
    };
    let start = &text[..end];
    if next.is_whitespace() {
        return start;
    }
    let end = start.rfind(char::is_whitespace);
    start[..end.unwrap_or(0)].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_ends_with_a_word() {
        let mut incoming = Incoming::default();
        incoming.add_text("a", "One moment.");
        incoming.add_audio("a", 480);
        incoming.add_text("b", "It rains in ");
        incoming.add_text("b", "Ghent.");
        incoming.add_audio("b", 960);
        let message = |id: &str, text: &str| (id.to_string(), text.to_string());
        let heard = |bytes| incoming.heard(bytes);
        assert_eq!(heard(0).messages, []);
        assert_eq!(heard(0).cut, Some(("a".into(), 0)));
        assert_eq!(heard(240).messages, [message("a", "One")]);
        assert_eq!(heard(240).cut, Some(("a".into(), 5)));
        assert_eq!(heard(480).messages, [message("a", "One moment.")]);
        assert_eq!(heard(480).cut, Some(("b".into(), 0)));
        let most = heard(480 + 700);
        assert_eq!(most.messages[1], message("b", "It rains in"));
        assert_eq!(most.cut, Some(("b".into(), 14)));
        assert_eq!(heard(1_440).cut, None);
        assert_eq!(heard(1_440).messages[1], message("b", "It rains in Ghent."));
        assert_eq!(incoming.text("b"), Some("It rains in Ghent."));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(start_of("héé là bas", 5, 10), "héé");
        assert_eq!(start_of("héé là bas", 3, 10), "héé");
        assert_eq!(start_of("héé", 2, 3), "");
        assert_eq!(start_of("héé", 3, 3), "héé");
    }
}
