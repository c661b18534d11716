//! A PostgreSQL server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use crate::Found;
use crate::certificate::Certificate;
use crate::folder::{as_other_user, free_port, program, run, temporary};
use crate::supervised::Supervised;

/// A server: one that this process started, or one that runs already.
#[derive(Debug)]
pub struct Postgres {
    /// Its URL.
    pub url: String,
    /// The process, the program that asks whether the server is ready, and the port, if this process started it.
    own: Option<(Supervised, PathBuf, u16)>,
}

impl Postgres {
    /// The server that most tests share: that of `PETALFLOW_TEST_POSTGRES`, or one that this process starts.
    pub fn shared() -> Found<&'static Self> {
        static SHARED: OnceLock<Found<Postgres>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match env::var("PETALFLOW_TEST_POSTGRES") {
            Ok(url) => Ok(Postgres { url, own: None }),
            Err(_) => Self::start_own(),
        });
        shared.as_ref().map_err(Clone::clone)
    }

    /// Starts a server that can be stopped and started again.
    pub fn start_own() -> Found<Self> {
        Self::start_with(&own_programs()?, |_, _| Ok(Vec::new()))
    }

    /// Starts a server that has the extension pgvector, from the programs in the folder of `PETALFLOW_TEST_PGVECTOR`.
    pub fn start_with_pgvector() -> Found<Self> {
        let folder = env::var_os("PETALFLOW_TEST_PGVECTOR").ok_or(
            "no PostgreSQL with pgvector: set PETALFLOW_TEST_PGVECTOR to the folder of its programs (those of the Python package \
             `pgserver` are in `pgserver/pginstall/bin`)",
        )?;
        Self::start_with(&Path::new(&folder).join("postgres"), |_, _| Ok(Vec::new()))
    }

    /// Starts a server that encrypts connections. Returns it with the certificate to trust.
    pub fn start_encrypted() -> Found<(Self, Vec<u8>)> {
        let mut pem = Vec::new();
        let server = Self::start_with(&own_programs()?, |folder, user_prefix| {
            let made = Certificate::make(folder, user_prefix)?;
            pem = made.pem();
            Ok(vec![
                "ssl=on".into(),
                format!("ssl_cert_file={}", made.certificate.display()),
                format!("ssl_key_file={}", made.key.display()),
            ])
        })?;
        Ok((server, pem))
    }

    /// Calls `settings` with the folder, and with the prefix for a command whose files the server must be able to read.
    fn start_with(
        postgres: &Path,
        settings: impl FnOnce(&Path, &[String]) -> Found<Vec<String>>,
    ) -> Found<Self> {
        // The other programs are beside the file itself, not beside a link to it.
        let postgres = fs::canonicalize(postgres)
            .map_err(|error| format!("no PostgreSQL at {}: {error}", postgres.display()))?;
        let beside = |name: &str| postgres.with_file_name(name);
        let folder = temporary("postgres");
        let data = folder.join("data");
        let user_prefix = as_other_user(&folder);

        // A locale that does not sort by bytes, where the server has one: the store must sort by bytes all the same.
        let init = |language: &[&str]| {
            let mut init = user_prefix.clone();
            init.push(beside("initdb").display().to_string());
            run(Command::new(&init[0])
                .args(&init[1..])
                .args(["-U", "petalflow", "-A", "trust", "-E", "UTF8", "--no-sync"])
                .args(language)
                .arg("-D")
                .arg(&data)
                .current_dir(&folder))
        };
        init(&[
            "--locale=C.UTF-8",
            "--locale-provider=icu",
            "--icu-locale=en",
        ])
        .or_else(|_| init(&["--locale=C"]))
        .expect("a database can be made");

        let settings = settings(&folder, &user_prefix)?;
        let port = free_port();
        let mut command = user_prefix;
        command.push(postgres.display().to_string());
        command.extend(["-D".into(), data.display().to_string()]);
        command.extend(["-p".into(), port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            // The machine does not crash in these tests.
            "fsync=off",
        ] {
            command.extend(["-c".into(), setting.into()]);
        }
        for setting in settings {
            command.extend(["-c".into(), setting]);
        }
        let supervised = Supervised::new(folder, command, "INT");
        let server = Postgres {
            url: format!("postgres://petalflow@127.0.0.1:{port}/postgres"),
            own: Some((supervised, beside("pg_isready"), port)),
        };
        server.start();
        Ok(server)
    }

    /// Whether this process started it.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Starts it and waits until it is ready.
    pub fn start(&self) {
        let (server, pg_isready, port) =
            self.own.as_ref().expect("this process started the server");
        server.start(|| {
            let mut ready = Command::new(pg_isready);
            let ready = ready.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
            run(ready.current_dir(server.folder())).is_ok()
        });
    }

    /// Stops it. What it has stored remains.
    pub fn stop(&self) {
        let (server, ..) = self.own.as_ref().expect("this process started the server");
        server.stop();
    }
}

/// The server program of this machine.
fn own_programs() -> Found<PathBuf> {
    program("postgres", &installed()).ok_or_else(|| {
        "no PostgreSQL: install the Debian package `postgresql`, or set PETALFLOW_TEST_POSTGRES to the url of a database in which \
         the tests may create schemas"
            .into()
    })
}

/// The folders of the versions that Debian installs, newest first.
fn installed() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut folders: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    folders.sort();
    folders.reverse();
    folders
}
