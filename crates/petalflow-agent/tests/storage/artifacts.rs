//! Artifacts in all stores.

use std::collections::BTreeSet;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_agent::artifacts::{
    Artifact, ArtifactError, ArtifactFolder, Artifacts, Folder, InStore,
};
use petalflow_sqlite::SqliteStore;

/// The artifacts in each store, and the same artifacts as another process would see them.
async fn stores(dir: &std::path::Path) -> Vec<(&'static str, Artifacts, Artifacts)> {
    let memory = InMemoryStore::new();
    let file = dir.join("artifacts.db");
    let sqlite = SqliteStore::open(&file).await.unwrap();
    let folder = Folder::new(dir.join("files"));
    vec![
        (
            "memory",
            Artifacts::new(InStore::new(memory.clone())),
            Artifacts::new(InStore::new(memory)),
        ),
        (
            "sqlite",
            Artifacts::new(InStore::new(sqlite.clone())),
            Artifacts::new(InStore::new(sqlite)),
        ),
        (
            "folder",
            Artifacts::new(folder.clone()),
            Artifacts::new(folder),
        ),
    ]
}

fn bytes(artifact: Option<Artifact>) -> Vec<u8> {
    artifact.expect("it is there").bytes
}

#[tokio::test]
async fn versions_are_written_listed_read_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    for (what, artifacts, others) in stores(dir.path()).await {
        let files = artifacts.thread("t").unwrap();
        assert_eq!(files.read("a").await.unwrap(), None, "{what}");
        assert!(files.versions("a").await.unwrap().is_empty() && !files.delete("a").await.unwrap());
        let content: Vec<u8> = (0..=255).collect();
        assert_eq!(
            files
                .write("a", "application/octet-stream", &content)
                .await
                .unwrap(),
            1,
            "{what}"
        );
        assert_eq!(
            files.write("a", "text/plain", b"").await.unwrap(),
            2,
            "{what}"
        );
        assert_eq!(
            files
                .write("Großes Bild.PNG", "image/png", b"\n\n")
                .await
                .unwrap(),
            1,
            "{what}"
        );

        let files = others.thread("t").unwrap();
        let first = files.read_version("a", 1).await.unwrap().unwrap();
        assert_eq!(
            (first.version, &*first.media_type, &first.bytes),
            (1, "application/octet-stream", &content)
        );
        assert_eq!(bytes(files.read("a").await.unwrap()), b"");
        assert_eq!(bytes(files.read("Großes Bild.PNG").await.unwrap()), b"\n\n");
        assert_eq!(files.read_version("a", 3).await.unwrap(), None);
        assert_eq!(files.read_version("a", 0).await.unwrap(), None);
        assert_eq!(
            files.list().await.unwrap(),
            ["Großes Bild.PNG", "a"],
            "{what}"
        );
        assert_eq!(files.versions("a").await.unwrap(), [1, 2]);
        assert!(files.delete("a").await.unwrap());
        assert_eq!(files.list().await.unwrap(), ["Großes Bild.PNG"]);
        assert_eq!(files.write("a", "text/plain", b"new").await.unwrap(), 1);
    }
}

#[tokio::test]
async fn owners_do_not_see_the_artifacts_of_others() {
    let dir = tempfile::tempdir().unwrap();
    for (what, artifacts, _) in stores(dir.path()).await {
        let owners = ["ann", "Ann", "a/../ann", "a", "ann/x", "../ann"];
        for id in owners {
            artifacts
                .thread(id)
                .unwrap()
                .write("note", "text/plain", id.as_bytes())
                .await
                .unwrap();
        }
        let user = artifacts.thread("ann").unwrap().user("ann").unwrap();
        assert!(
            user.list().await.unwrap().is_empty(),
            "{what}: a user is not a thread"
        );
        for id in owners {
            let files = artifacts.thread(id).unwrap();
            assert_eq!(files.versions("note").await.unwrap(), [1], "{what}: {id}");
            assert_eq!(
                files.read("note").await.unwrap().unwrap().text().unwrap(),
                id,
                "{what}"
            );
        }
    }
}

#[tokio::test]
async fn names_that_leave_the_folder_are_refused_and_nothing_is_written_outside() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("inside");
    let files = Artifacts::new(Folder::new(&inside))
        .thread("../../outside")
        .unwrap();
    for name in [
        "../x",
        "..",
        "/etc/passwd",
        "a/../../x",
        "a\\x",
        "",
        ".x",
        "a\0",
    ] {
        let error = files.write(name, "text/plain", b"x").await.unwrap_err();
        assert!(matches!(error, ArtifactError::Name { .. }), "{name}");
        assert!(files.read(name).await.is_err() && files.delete(name).await.is_err());
    }
    files.write("fine", "text/plain", b"x").await.unwrap();
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["inside"]);
    let long = Artifacts::in_memory().thread("x".repeat(81)).unwrap_err();
    assert!(
        long.to_string()
            .ends_with("it has 81 bytes, and 80 are allowed")
    );
}

#[tokio::test]
async fn sizes_and_media_types_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    for (what, artifacts, others) in stores(dir.path()).await {
        let files = artifacts.max_bytes(10).thread("t").unwrap();
        assert_eq!(files.write("a", "text/plain", &[0; 10]).await.unwrap(), 1);
        let error = files.write("a", "text/plain", &[0; 11]).await.unwrap_err();
        let expected = "artifact `a` has 11 bytes, which is more than the limit of 10: raise it with `.max_bytes(..)`";
        assert_eq!(error.to_string(), expected, "{what}");
        others
            .thread("t")
            .unwrap()
            .write("big", "text/plain", &[0; 1_000])
            .await
            .unwrap();
        let error = files.read("big").await.unwrap_err();
        assert!(matches!(error, ArtifactError::TooLarge { .. }), "{what}");
        for media_type in ["", "text/\nplain", "tëxt", &"x".repeat(128)] {
            assert!(files.write("a", media_type, b"").await.is_err());
        }
        let text = files.write("b", "text/plain", &[0xff]).await;
        assert_eq!(text.unwrap(), 1);
        assert!(files.read("b").await.unwrap().unwrap().text().is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_at_the_same_time_get_different_versions() {
    let dir = tempfile::tempdir().unwrap();
    for (what, artifacts, others) in stores(dir.path()).await {
        let writes = (0..20_u8).map(|number| {
            let artifacts = if number % 2 == 0 { &artifacts } else { &others };
            let files = artifacts.thread("t").unwrap();
            tokio::spawn(async move {
                (
                    number,
                    files.write("a", "text/plain", &[number]).await.unwrap(),
                )
            })
        });
        let writes: Vec<_> = writes.collect();
        let mut versions = BTreeSet::new();
        for write in writes {
            let (number, version) = write.await.unwrap();
            assert!(versions.insert(version), "{what}");
            let read = artifacts
                .thread("t")
                .unwrap()
                .read_version("a", version)
                .await
                .unwrap();
            assert_eq!(bytes(read), [number], "{what}");
        }
        assert_eq!(versions, (1..=20).collect());
    }
}

#[tokio::test]
async fn a_file_of_a_dead_process_is_not_a_version() {
    let dir = tempfile::tempdir().unwrap();
    let files = Artifacts::new(Folder::new(dir.path())).thread("t").unwrap();
    files.write("a", "text/plain", b"x").await.unwrap();
    let folder = dir.path().join("t-t");
    std::fs::write(folder.join("a-a").join(".new-1-2-3"), "half").unwrap();
    std::fs::create_dir_all(folder.join("a-b")).unwrap();
    assert_eq!(files.list().await.unwrap(), ["a"]);
    assert_eq!(files.versions("a").await.unwrap(), [1]);
    assert_eq!(files.write("a", "text/plain", b"y").await.unwrap(), 2);
    let left: Vec<_> = std::fs::read_dir(folder.join("a-a")).unwrap().collect();
    assert_eq!(left.len(), 3, "the write has removed its own file");
    assert!(files.delete("a").await.unwrap());
    assert!(!folder.join("a-a").exists());
}

#[state]
struct Work {
    #[key(input)]
    text: String,
    version: u32,
}

#[node(Work)]
async fn save(text: &str, files: Managed<ArtifactFolder>) -> petalflow::Result<WorkVersion> {
    Ok(WorkVersion(
        files.write("work", "text/plain", text.as_bytes()).await?,
    ))
}

flow!(Save(Work) { save });

#[tokio::test]
async fn a_node_has_the_artifacts_of_its_thread() {
    let artifacts = Artifacts::in_memory();
    let threads = Save::new()
        .manage_with(artifacts.for_threads())
        .store(&InMemoryStore::new());
    for (thread, version) in [("ann", 1), ("bob", 1), ("ann", 2)] {
        let done = threads
            .thread(thread)
            .run(thread.to_string())
            .await
            .unwrap();
        assert_eq!(done.into_finished().unwrap().version, version);
    }
    let files = artifacts.thread("bob").unwrap();
    assert_eq!(
        files.read("work").await.unwrap().unwrap().text().unwrap(),
        "bob"
    );
}
