//! A self-signed certificate for servers on the loopback device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Found;
use crate::folder::{program, run};

/// The files of a certificate.
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// Makes one in this folder. `user_prefix` comes before the command, because only the owner may read the key.
    pub(crate) fn make(folder: &Path, user_prefix: &[String]) -> Found<Self> {
        let Some(openssl) = program("openssl", &[]) else {
            return Err("no openssl: install the Debian package `openssl`".into());
        };
        let made = Certificate {
            certificate: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
        };
        let mut command = user_prefix.to_vec();
        command.push(openssl.display().to_string());
        let subject = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=petalflow-tests \
                       -addext subjectAltName=IP:127.0.0.1,DNS:localhost -addext basicConstraints=critical,CA:FALSE";
        command.extend(subject.split_whitespace().map(str::to_owned));
        run(Command::new(&command[0])
            .args(&command[1..])
            .arg("-keyout")
            .arg(&made.key)
            .arg("-out")
            .arg(&made.certificate)
            .current_dir(folder))
        .expect("a certificate can be made");
        Ok(made)
    }

    pub(crate) fn pem(&self) -> Vec<u8> {
        fs::read(&self.certificate).expect("the file was just made")
    }
}
