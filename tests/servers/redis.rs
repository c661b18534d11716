//! A Redis server.

use std::env;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::Found;
use crate::certificate::Certificate;
use crate::folder::{free_port, program, temporary};
use crate::supervised::Supervised;

/// A server: one that this process started, or one that runs already.
#[derive(Debug)]
pub struct Redis {
    /// Its URL.
    pub url: String,
    /// The process and the port, if this process started it.
    own: Option<(Supervised, u16)>,
}

impl Redis {
    /// The server that most tests share: that of `PETALFLOW_TEST_REDIS`, or one that this process starts.
    pub fn shared() -> Found<&'static Self> {
        static SHARED: OnceLock<Found<Redis>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match env::var("PETALFLOW_TEST_REDIS") {
            Ok(url) => Ok(Redis { url, own: None }),
            Err(_) => Self::start_own(&[]),
        });
        shared.as_ref().map_err(Clone::clone)
    }

    /// Starts a server that can be stopped and started again, with more settings.
    pub fn start_own(settings: &[&str]) -> Found<Self> {
        Self::start_in(temporary("redis"), settings)
    }

    /// Starts a server that encrypts connections. Returns it with the certificate to trust. Its URL is that of the encrypted port.
    pub fn start_encrypted() -> Found<(Self, Vec<u8>)> {
        let folder = temporary("redis");
        let made = Certificate::make(&folder, &[])?;
        let pem = made.pem();
        let port = free_port();
        let mut server = Self::start_in(
            folder,
            &[
                "--tls-port",
                &port.to_string(),
                "--tls-cert-file",
                &made.certificate.display().to_string(),
                "--tls-key-file",
                &made.key.display().to_string(),
                "--tls-auth-clients",
                "no",
            ],
        )?;
        server.url = format!("rediss://127.0.0.1:{port}");
        Ok((server, pem))
    }

    fn start_in(folder: PathBuf, settings: &[&str]) -> Found<Self> {
        let Some(redis) = program("redis-server", &[]) else {
            return Err(
                "no Redis: install the Debian package `redis-server`, or set PETALFLOW_TEST_REDIS to the url of a server in \
                 which the tests may make keys"
                    .into(),
            );
        };
        let port = free_port();
        let mut command = vec![redis.display().to_string()];
        command.extend(["--port".into(), port.to_string()]);
        command.extend(["--dir".into(), folder.display().to_string()]);
        for setting in ["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"] {
            command.push(setting.into());
        }
        command.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let server = Redis {
            url: format!("redis://127.0.0.1:{port}"),
            own: Some((Supervised::new(folder, command, "TERM"), port)),
        };
        server.start();
        Ok(server)
    }

    /// Starts it and waits until it is ready.
    pub fn start(&self) {
        let (server, port) = self.own.as_ref().expect("this process started the server");
        server.start(|| ping(*port).is_ok_and(|answer| answer.starts_with(b"+PONG")));
    }

    /// Stops it. What it has stored remains.
    pub fn stop(&self) {
        let (server, _) = self.own.as_ref().expect("this process started the server");
        server.stop();
    }
}

fn ping(port: u16) -> std::io::Result<[u8; 5]> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}
