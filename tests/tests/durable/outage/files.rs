//! Files that are full, not writable, or replaced during a run.

use std::path::Path;

use petalflow::RunError;
use petalflow::checkpoint::StoreError;
use petalflow::thread::Durability;
use petalflow_sqlite::{SqliteStore, Synchronous};
use petalflow_test_support::{Need, skip};
use tempfile::TempDir;

use super::{Outage, assert_same_end, race, run_or_resume, run_without_outage};

/// Some 600 kB.
const LARGE: (u64, usize) = (120, 5_000);
/// Some two MB, and a log beside them.
#[cfg(target_os = "linux")]
const LARGER: (u64, usize) = (200, 10_000);
const DURABILITIES: [Durability; 2] = [Durability::Sync, Durability::Async];

/// The run has failed because of its store, and names the file and these words.
#[track_caller]
fn assert_names_file(error: &RunError, path: &Path, words: &str) {
    let text = error.to_string();
    assert!(
        text.contains(words) && text.contains(&path.display().to_string()),
        "it names the file and says {words:?}: {text}"
    );
}

/// The same of a file that cannot be opened.
async fn assert_cannot_open(path: &Path, words: &str) {
    let error = SqliteStore::open(path).await.unwrap_err();
    let text = match &error {
        StoreError::Unavailable(why) | StoreError::Other(why) => why.to_string(),
        other => other.to_string(),
    };
    assert!(
        text.contains(words) && text.contains(&path.display().to_string()),
        "it names the file and says {words:?}: {text}"
    );
}

#[tokio::test]
async fn a_thread_resumes_when_its_full_disk_has_space() {
    let unbroken = run_without_outage(LARGE).await;
    for synchronous in [Synchronous::Full, Synchronous::Normal] {
        for durability in DURABILITIES {
            let folder = TempDir::new().expect("a folder can be made");
            let path = folder.path().join("race.db");
            let options = SqliteStore::options(&path).synchronous(synchronous);
            let store = options.clone().max_bytes(300_000).open().await.unwrap();
            let thread = race(&store, durability, Outage::none(), "t");
            assert_names_file(
                &run_or_resume(&thread, LARGE).await.unwrap_err(),
                &path,
                "no space left",
            );
            // Trying again changes nothing.
            assert_names_file(
                &run_or_resume(&thread, LARGE).await.unwrap_err(),
                &path,
                "no space left",
            );
            let kept = thread.snapshot().await.unwrap().unwrap();
            assert!(kept.state.round > 10, "what was acknowledged is there");
            drop((thread, store));
            let store = options.open().await.unwrap();
            let thread = race(&store, durability, Outage::none(), "t");
            assert_same_end(&unbroken, &run_or_resume(&thread, LARGE).await.unwrap());
        }
    }
}

#[tokio::test]
async fn a_file_of_another_format_is_not_changed() {
    let unbroken = run_without_outage(LARGE).await;
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("race.db");
    let away = folder.path().join("away.db");
    let options = SqliteStore::options(&path);
    let store = options.clone().max_bytes(300_000).open().await.unwrap();
    let thread = race(&store, Durability::Sync, Outage::none(), "t");
    run_or_resume(&thread, LARGE).await.unwrap_err();
    drop((thread, store));
    petalflow_test_support::wait_until_gone(&path.with_extension("db-wal"));
    std::fs::rename(&path, &away).expect("it can be moved");
    std::fs::write(&path, "dear diary, ".repeat(1_000)).expect("it can be written");
    assert_cannot_open(&path, "is not a SQLite database").await;
    let diary = std::fs::read_to_string(&path).expect("it is there");
    assert!(diary.starts_with("dear diary"), "it is left as it was");
    std::fs::rename(&away, &path).expect("it can be moved");
    let store = options.open().await.unwrap();
    let thread = race(&store, Durability::Sync, Outage::none(), "t");
    assert_same_end(&unbroken, &run_or_resume(&thread, LARGE).await.unwrap());
}

/// The disk itself, in a child with mounts of its own, which needs no rights where the system lets users have them.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_or_read_only_loses_nothing() {
    use std::process::Command;

    const FOLDER: &str = "PETALFLOW_TEST_SMALL_DISK";
    const MOUNT: &str = "mount -t tmpfs -o size=20m none \"$1\"";
    const NAME: &str = "durable::outage::files::a_disk_that_is_full_or_read_only_loses_nothing";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
        runtime.block_on(check_small_disk(Path::new(&folder)));
        return;
    }
    let folder = TempDir::new().expect("a folder can be made");
    let mounts = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "--mount", "sh", "-ec", script, "sh"])
            .arg(folder.path())
            .arg(std::env::current_exe().expect("it is known"))
            .env(FOLDER, folder.path());
        command.output()
    };
    match mounts(MOUNT) {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return skip(
                Need::Optional,
                format_args!("this user may not mount anything; run the tests as root: {why}"),
            );
        }
        Err(why) => {
            return skip(
                Need::Optional,
                format_args!("no `unshare`; install the Debian package `util-linux`: {why}"),
            );
        }
    }
    let script = format!("{MOUNT}; exec \"$2\" --exact {NAME} --nocapture");
    let output = mounts(&script).expect("it has just worked");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(target_os = "linux")]
async fn check_small_disk(folder: &Path) {
    let unbroken = run_without_outage(LARGER).await;
    for durability in DURABILITIES {
        let path = folder.join(format!("{durability:?}.db"));
        let ballast = fill(folder, 1_000_000);
        let store = SqliteStore::open(&path).await.unwrap();
        let thread = race(&store, durability, Outage::none(), "t");
        let error = run_or_resume(&thread, LARGER).await.unwrap_err();
        assert_names_file(&error, &path, "no space left");
        drop((thread, store));

        remount(folder, "ro");
        assert_cannot_open(&path, "cannot be written: give this user write access").await;
        remount(folder, "rw");

        std::fs::remove_file(&ballast).expect("it is there");
        let store = SqliteStore::open(&path).await.unwrap();
        let thread = race(&store, durability, Outage::none(), "t");
        let kept = thread.snapshot().await.unwrap().unwrap();
        let round = kept.state.round;
        assert!(
            round > 2,
            "what was acknowledged is there, not only round {round}"
        );
        assert_same_end(&unbroken, &run_or_resume(&thread, LARGER).await.unwrap());
    }
}

/// Fills the disk with a file, but for so many bytes.
#[cfg(target_os = "linux")]
fn fill(folder: &Path, free: u64) -> std::path::PathBuf {
    use std::io::Write as _;

    let path = folder.join("ballast");
    let mut file = std::fs::File::create(&path).expect("it can be made");
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
    let length = file.metadata().expect("it is there").len();
    file.set_len(length - free).expect("it can be cut");
    path
}

/// Mounts the disk in another way. A store that was dropped may take a moment to close its files.
#[cfg(target_os = "linux")]
fn remount(folder: &Path, how: &str) {
    let begun = std::time::Instant::now();
    let remounted = || {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-o", &format!("remount,{how}"), "none"]);
        mount.arg(folder).output().expect("there is a mount")
    };
    loop {
        let output = remounted();
        if output.status.success() {
            return;
        }
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(
            begun.elapsed() < std::time::Duration::from_secs(10),
            "{how}: {why}"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
