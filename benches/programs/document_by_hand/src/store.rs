//! The table of complaints, with the question that each waits for.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::model::Message;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS complaints (
        id TEXT PRIMARY KEY,
        status TEXT NOT NULL,
        text TEXT NOT NULL,
        messages TEXT NOT NULL,
        proposal TEXT,
        reply TEXT
    );
    CREATE TABLE IF NOT EXISTS questions (
        complaint TEXT PRIMARY KEY REFERENCES complaints (id),
        answer INTEGER
    );";

/// A row of the table.
#[derive(Debug, Clone)]
pub struct Complaint {
    pub id: String,
    /// `running`, `waiting`, `finished` or `failed`.
    pub status: String,
    pub text: String,
    /// The conversation of the agent.
    pub messages: Vec<Message>,
    pub proposal: Option<String>,
    pub reply: Option<String>,
    /// The answer to the question, if there is one.
    pub answer: Option<bool>,
}

impl Complaint {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Complaint {
            id: row.get("id")?,
            status: row.get("status")?,
            text: row.get("text")?,
            messages: serde_json::from_str(&row.get::<_, String>("messages")?)?,
            proposal: row.get("proposal")?,
            reply: row.get("reply")?,
            answer: row.get("answer")?,
        })
    }
}

/// The database. Clones share it.
#[derive(Clone)]
pub struct Store(Arc<Mutex<Connection>>);

impl Store {
    pub fn open(file: &Path) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.execute_batch(TABLES)?;
        Ok(Store(Arc::new(Mutex::new(connection))))
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let connection = self.0.clone();
        tokio::task::spawn_blocking(move || {
            work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        })
        .await?
    }

    /// Stores a new complaint. Returns `false` if there is one with this id.
    pub async fn insert(&self, id: String, text: String) -> Result<bool> {
        self.with(move |connection| {
            let sql = "INSERT OR IGNORE INTO complaints (id, status, text, messages)
                       VALUES (?1, 'running', ?2, '[]')";
            Ok(connection.execute(sql, params![id, text])? == 1)
        })
        .await
    }

    /// Stores what has changed, and the question if the complaint waits for an answer.
    pub async fn update(&self, complaint: &Complaint) -> Result<()> {
        let it = complaint.clone();
        self.with(move |connection| {
            let messages = serde_json::to_string(&it.messages)?;
            let transaction = connection.transaction()?;
            let sql = "UPDATE complaints SET status = ?2, messages = ?3, proposal = ?4, reply = ?5 WHERE id = ?1";
            transaction.execute(sql, params![it.id, it.status, messages, it.proposal, it.reply])?;
            if it.status == "waiting" {
                transaction.execute("INSERT OR IGNORE INTO questions (complaint) VALUES (?1)", [it.id])?;
            }
            transaction.commit()?;
            Ok(())
        })
        .await
    }

    /// Stores the answer. Returns `false` if no question is open.
    pub async fn answer(&self, id: String, answer: bool) -> Result<bool> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            let sql = "UPDATE questions SET answer = ?2 WHERE complaint = ?1 AND answer IS NULL";
            let answered = transaction.execute(sql, params![id, answer])? == 1;
            if answered {
                transaction.execute(
                    "UPDATE complaints SET status = 'running' WHERE id = ?1",
                    [id],
                )?;
            }
            transaction.commit()?;
            Ok(answered)
        })
        .await
    }

    pub async fn get(&self, id: String) -> Result<Option<Complaint>> {
        self.with(move |connection| {
            let sql =
                "SELECT * FROM complaints LEFT JOIN questions ON complaint = id WHERE id = ?1";
            let row = connection
                .query_row(sql, [id], |row| Ok(Complaint::read(row)))
                .optional()?;
            row.transpose()
        })
        .await
    }

    /// The complaints that a process left when it ended.
    pub async fn running(&self) -> Result<Vec<String>> {
        self.with(|connection| {
            let mut statement =
                connection.prepare("SELECT id FROM complaints WHERE status = 'running'")?;
            let ids = statement.query_map([], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}
