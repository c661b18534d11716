//! The server that drives Chromium.

use std::env;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::Found;
use crate::folder::{free_port, program, temporary};
use crate::supervised::Supervised;

/// A `WebDriver` server for Chromium that this process started.
#[derive(Debug)]
pub struct Chromedriver {
    /// Its URL.
    pub url: String,
    /// The browser, if it is in the path. Otherwise the server looks for one.
    pub chromium: Option<PathBuf>,
    server: Supervised,
}

impl Chromedriver {
    /// The server that all tests share: the program that `PETALFLOW_CHROMEDRIVER` names, or the one in the path.
    pub fn shared() -> Found<&'static Self> {
        static SHARED: OnceLock<Found<Chromedriver>> = OnceLock::new();
        let shared = SHARED.get_or_init(Self::start);
        shared.as_ref().map_err(Clone::clone)
    }

    /// The folder for the profiles of browsers. It is removed when the server ends.
    pub fn folder(&self) -> &Path {
        self.server.folder()
    }

    fn start() -> Found<Self> {
        let named = env::var_os("PETALFLOW_CHROMEDRIVER").map(PathBuf::from);
        let Some(driver) = named.or_else(|| program("chromedriver", &[])) else {
            return Err(
                "no Chromium: install the Debian packages `chromium` and `chromium-driver`, or set PETALFLOW_CHROMEDRIVER to \
                 the file of the program `chromedriver`"
                    .into(),
            );
        };
        let port = free_port();
        let command = vec![driver.display().to_string(), format!("--port={port}")];
        // It has no handler for other signals, and the supervisor's children ignore them.
        let server = Supervised::new(temporary("chromedriver"), command, "KILL");
        server.start(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        Ok(Chromedriver {
            url: format!("http://127.0.0.1:{port}"),
            chromium: program("chromium", &[]),
            server,
        })
    }
}
