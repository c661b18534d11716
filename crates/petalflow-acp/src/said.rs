//! The text of a message, of which an editor gets each part once.

/// What was sent of the message that a model writes now. What was sent cannot be taken back.
#[derive(Debug, Default)]
pub(crate) struct Said {
    sent: String,
    /// What the present attempt has written.
    written: String,
}

impl Said {
    /// The next piece of the message. Returns what is new.
    pub(crate) fn piece(&mut self, text: &str) -> Option<String> {
        self.written.push_str(text);
        self.news()
    }

    /// The whole message. Returns what is new. The next piece belongs to another message.
    pub(crate) fn whole(&mut self, text: &str) -> Option<String> {
        self.written = text.into();
        let news = self.news();
        *self = Said::default();
        news
    }

    /// The attempt has failed, and another one writes the message from its start.
    pub(crate) fn again(&mut self) {
        self.written.clear();
    }

    fn news(&mut self) -> Option<String> {
        if self.sent.starts_with(&self.written) {
            return None;
        }
        let news = match self.written.strip_prefix(&self.sent) {
            Some(news) => news.to_string(),
            // Another text: the first one stays, and this one follows it.
            None => format!("\n\n{}", self.written),
        };
        self.sent.clone_from(&self.written);
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::Said;

    #[test]
    fn f44_each_text_is_sent_once() {
        let mut said = Said::default();
        assert_eq!(said.piece("Good ").unwrap(), "Good ");
        assert_eq!(said.piece("morn").unwrap(), "morn");
        assert_eq!(said.whole("Good morning").unwrap(), "ing");
        assert_eq!(said.whole("Good night").unwrap(), "Good night");
        assert_eq!(said.whole(""), None);
    }

    #[test]
    fn f44_a_repeated_attempt_goes_on_or_begins_a_paragraph() {
        let mut said = Said::default();
        said.piece("Good morn");
        said.again();
        assert_eq!(said.piece("Good "), None);
        assert_eq!(said.piece("morning").unwrap(), "ing");
        said.again();
        assert_eq!(said.piece("Hello").unwrap(), "\n\nHello");
        assert_eq!(said.whole("Hello you").unwrap(), " you");
    }
}
