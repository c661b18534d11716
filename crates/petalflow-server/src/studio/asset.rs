//! The files of the page, which are part of the program.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// A file of the page.
pub(crate) struct Asset {
    /// The name, without folders.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl Asset {
    pub(crate) fn is_page(&self) -> bool {
        self.name == "index.html"
    }

    /// The value of the header `ETag`: another one when the bytes are others.
    pub(crate) fn etag(&self) -> Arc<str> {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish()).into()
    }
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($content_type:ident: $($name:literal)*;)*) => {
        &[$($(Asset {
            name: $name,
            content_type: $content_type,
            bytes: include_bytes!(concat!("assets/", $name)),
        },)*)*]
    };
}

/// All files. A test compares the list with the folder.
pub(crate) const ASSETS: &[Asset] = assets! {
    HTML: "index.html";
    CSS: "studio.css";
    SCRIPT:
        "address.js"
        "announce.js"
        "api.js"
        "badge-place.js"
        "bulk-dialog.js"
        "bulk-progress.js"
        "chat-view.js"
        "compare-view.js"
        "custom-event.js"
        "dialog.js"
        "diff.js"
        "dom.js"
        "drawing.js"
        "edit-dialog.js"
        "events.js"
        "flow-schemas.js"
        "flow-view.js"
        "flows-view.js"
        "format.js"
        "history-view.js"
        "icons.js"
        "inbox-count.js"
        "inbox-view.js"
        "json-field.js"
        "json.js"
        "layout.js"
        "live-section.js"
        "main.js"
        "messages.js"
        "native-parts.js"
        "pan-zoom.js"
        "parts.js"
        "pending-calls.js"
        "questions.js"
        "readable.js"
        "request-parts.js"
        "run-log.js"
        "schedule-dialogs.js"
        "schedules-view.js"
        "schema-form.js"
        "schema-table.js"
        "schema.js"
        "start-dialog.js"
        "status-counts.js"
        "status.js"
        "stored-ms.js"
        "task-detail.js"
        "theme.js"
        "thread-actions.js"
        "thread-header.js"
        "thread-session.js"
        "thread-view.js"
        "threads-view.js"
        "timeline.js"
        "token.js"
        "totals.js"
        "tree.js"
        "types.js"
        "virtual-list.js"
        "waterfall-layout.js"
        "waterfall.js";
};
