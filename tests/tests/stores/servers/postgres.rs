//! A PostgreSQL server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use super::Found;
use super::certificate::Certificate;
use super::folder::{as_someone_else, free_port, program, run, temporary};
use super::supervised::Supervised;

/// A server that was started here, or one that exists.
pub(crate) struct Postgres {
    pub(crate) url: String,
    /// Asks whether it is ready; with the process, if it is ours.
    own: Option<(Supervised, PathBuf, u16)>,
}

impl Postgres {
    /// The one that most tests share: that of `PETALFLOW_TEST_POSTGRES`, or one of our own.
    pub(crate) fn shared() -> Found<&'static Self> {
        static SHARED: OnceLock<Found<Postgres>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match env::var("PETALFLOW_TEST_POSTGRES") {
            Ok(url) => Ok(Postgres { url, own: None }),
            Err(_) => Self::start_own(),
        });
        shared.as_ref().map_err(Clone::clone)
    }

    /// One of our own, which can be stopped and started again.
    pub(crate) fn start_own() -> Found<Self> {
        Self::start_with(|_, _| Ok(Vec::new()))
    }

    /// One of our own that can encrypt, with the certificate to trust.
    pub(crate) fn start_encrypted() -> Found<(Self, Vec<u8>)> {
        let mut pem = Vec::new();
        let server = Self::start_with(|folder, someone| {
            let made = Certificate::make(folder, someone)?;
            pem = made.pem();
            Ok(vec![
                "ssl=on".into(),
                format!("ssl_cert_file={}", made.certificate.display()),
                format!("ssl_key_file={}", made.key.display()),
            ])
        })?;
        Ok((server, pem))
    }

    /// Calls `settings` with the folder, and with what comes before a command whose files the server is to read.
    fn start_with(settings: impl FnOnce(&Path, &[String]) -> Found<Vec<String>>) -> Found<Self> {
        let Some(postgres) = program("postgres", &installed()) else {
            return Err(
                "no PostgreSQL: install the Debian package `postgresql`, or set PETALFLOW_TEST_POSTGRES to the url of a \
                 database in which the tests may create schemas"
                    .into(),
            );
        };
        // What belongs to it stands beside the file itself, not beside a link to it.
        let postgres = fs::canonicalize(postgres).expect("the file was just found");
        let beside = |name: &str| postgres.with_file_name(name);
        let folder = temporary("postgres");
        let data = folder.join("data");
        let someone = as_someone_else(&folder);

        // A language whose order is not that of the bytes, where the server has one: the store must not be fooled by it.
        let init = |language: &[&str]| {
            let mut init = someone.clone();
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

        let settings = settings(&folder, &someone)?;
        let port = free_port();
        let mut command = someone;
        command.push(postgres.display().to_string());
        command.extend(["-D".into(), data.display().to_string()]);
        command.extend(["-p".into(), port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            // The machine does not go away in these tests.
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

    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    pub(crate) fn start(&self) {
        let (server, pg_isready, port) = self.own.as_ref().expect("it is ours");
        server.start(|| {
            let mut ready = Command::new(pg_isready);
            let ready = ready.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
            run(ready.current_dir(server.folder())).is_ok()
        });
    }

    pub(crate) fn stop(&self) {
        let (server, ..) = self.own.as_ref().expect("it is ours");
        server.stop();
    }
}

/// Where Debian puts its versions, newest first.
fn installed() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut folders: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    folders.sort();
    folders.reverse();
    folders
}
