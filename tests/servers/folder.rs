//! Programs, folders and ports for servers.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::fresh_name;

/// The program of this name: in one of these folders, or in the path.
pub(crate) fn program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut candidates = folders
        .iter()
        .cloned()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(name));
    candidates.find(|file| file.is_file())
}

/// An empty folder in the temporary one.
pub(crate) fn temporary(what: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("petalflow_{}", fresh_name(what)));
    fs::create_dir(&folder).expect("a temporary folder can be made");
    folder
}

/// A port on the loopback device that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// The prefix for a command that refuses to run as root: nothing, or a command that runs it as another user, who then owns the
/// folder.
pub(crate) fn as_other_user(folder: &Path) -> Vec<String> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_root {
        return Vec::new();
    }
    let user = ["postgres", "nobody"]
        .into_iter()
        .find(|user| run(Command::new("id").args(["-u", user])).is_ok())
        .expect("there is a user besides root");
    let group = run(Command::new("id").args(["-gn", user])).expect("each user has a group");
    run(Command::new("chown").arg(user).arg(folder)).expect("root changes the owner");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .expect("the owner sets the mode");
    [
        "setpriv",
        "--reuid",
        user,
        "--regid",
        group.trim(),
        "--clear-groups",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Runs a command to its end; what it has printed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!(
            "{command:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        ))
    }
}
