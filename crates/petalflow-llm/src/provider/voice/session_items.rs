//! What is known of the items of a session.

use serde_json::{Value, json};

/// An item of a session.
#[derive(Debug)]
struct SessionItem {
    id: String,
    /// The item as a request would have it. `None` if no request can have it: it is not complete, or was not heard.
    value: Option<Value>,
}

/// The items of a session, in the order of the server.
#[derive(Debug, Default)]
pub(super) struct SessionItems(Vec<SessionItem>);

impl SessionItems {
    /// Adds an item after the one with the id `previous`, or at the end. Nothing happens if it is known.
    pub(super) fn add(&mut self, id: &str, previous: Option<&str>) {
        if self.position(id).is_some() {
            return;
        }
        let previous = previous.and_then(|previous| self.position(previous));
        let at = previous.map_or(self.0.len(), |previous| previous + 1);
        let item = SessionItem {
            id: id.to_string(),
            value: None,
        };
        self.0.insert(at, item);
    }

    /// Sets what an item is in a request.
    pub(super) fn set(&mut self, id: &str, value: Value) {
        self.add(id, None);
        if let Some(at) = self.position(id) {
            self.0[at].value = Some(value);
        }
    }

    /// Notes that no request has an item: it was not heard, or its turn was stopped.
    pub(super) fn forget(&mut self, id: &str) {
        if let Some(at) = self.position(id) {
            self.0[at].value = None;
        }
    }

    /// The events after which the session has the items of a request, and no others. The items at the start and at the end
    /// that are the same stay as they are, with their audio; what differs between them is deleted and created.
    pub(super) fn reconcile(
        &mut self,
        wanted: Vec<Value>,
        mut new_id: impl FnMut() -> String,
    ) -> Vec<Value> {
        let is_same =
            |(known, wanted): (&SessionItem, &Value)| known.value.as_ref() == Some(wanted);
        let pairs = self.0.iter().zip(&wanted);
        let start = pairs.take_while(|pair| is_same(*pair)).count();
        let pairs = self.0[start..].iter().rev();
        let pairs = pairs.zip(wanted[start..].iter().rev());
        let end = pairs.take_while(|pair| is_same(*pair)).count();

        let others = self.0.drain(start..self.0.len() - end);
        let mut events: Vec<Value> = others
            .map(|other| json!({ "type": "conversation.item.delete", "item_id": other.id }))
            .collect();
        let missing = start..wanted.len() - end;
        let has_later = end > 0;
        for (at, value) in wanted.into_iter().enumerate() {
            if !missing.contains(&at) {
                continue;
            }
            let id = new_id();
            let mut item = value.clone();
            item["id"] = id.as_str().into();
            let mut event = json!({ "type": "conversation.item.create", "item": item });
            if has_later {
                let previous = at.checked_sub(1).map(|before| &*self.0[before].id);
                event["previous_item_id"] = previous.unwrap_or("root").into();
            }
            events.push(event);
            let value = Some(value);
            self.0.insert(at, SessionItem { id, value });
        }
        events
    }

    fn position(&self, id: &str) -> Option<usize> {
        // New items are at the end.
        self.0.iter().rposition(|item| item.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| json!({ "text": text })).collect()
    }

    /// The ids of deleted items, and the texts of created ones.
    fn changes(items: &mut SessionItems, wanted: &[&str]) -> Vec<String> {
        let mut number = 0;
        let events = items.reconcile(texts(wanted), || {
            number += 1;
            format!("new{number}-{}", wanted.len())
        });
        let text = |event: &Value| match (&event["item"]["text"], &event["previous_item_id"]) {
            (Value::String(text), Value::String(previous)) => format!("{previous}+{text}"),
            (Value::String(text), _) => format!("+{text}"),
            _ => format!("-{}", event["item_id"].as_str().unwrap()),
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn a_session_gets_what_it_lacks_and_loses_the_rest() {
        let mut items = SessionItems::default();
        assert_eq!(changes(&mut items, &["a", "b"]), ["+a", "+b"]);
        items.add("answer", None);
        items.add("more", Some("answer"));
        items.add("more", None);
        items.set("answer", json!({ "text": "c" }));
        assert_eq!(
            changes(&mut items, &["a", "b", "c", "d"]),
            ["-more", "+d"],
            "what was said and is in no request yet is deleted"
        );
        assert!(changes(&mut items, &["a", "b", "c", "d"]).is_empty());
        assert_eq!(
            changes(&mut items, &["a", "x", "c"]),
            ["-new2-2", "-answer", "-new1-4", "+x", "+c"]
        );
    }

    #[test]
    fn what_was_said_last_stays_with_its_audio() {
        let mut items = SessionItems::default();
        items.set("said", json!({ "text": "c" }));
        assert_eq!(
            changes(&mut items, &["a", "b", "c"]),
            ["root+a", "new1-3+b"],
            "as in a new session"
        );
        assert_eq!(
            changes(&mut items, &["a", "x", "c"]),
            ["-new2-3", "new1-3+x"]
        );
        assert_eq!(
            changes(&mut items, &["c", "c"]),
            ["-new1-3", "-new1-3", "root+c"]
        );
        assert_eq!(changes(&mut items, &["c"]).len(), 1, "no item counts twice");
    }
}
