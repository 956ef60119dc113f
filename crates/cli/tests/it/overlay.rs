//! A root whose lower layer nobody may write, as a container has it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::archive::archive;
use crate::mounted::Mounted;
use crate::raw_http::{Answer, JSON, TAR};
use crate::server_process::ServerProcess;

#[test]
fn trees_of_the_lower_layer_are_moved_copied_and_removed() {
    let Some(overlay) = Overlay::mount() else { return };
    let server = ServerProcess::start(&overlay.root(), &[]);
    change(&server, "move", &json!({"from": "first", "to": "moved"})).succeeds();
    change(&server, "copy", &json!({"from": "second", "to": "copied"})).succeeds();
    server.ask("DELETE", "/v1/fs/entry?path=second&recursive=true", b"").succeeds();
    server.ask("PUT", "/v1/fs/file?path=third/sub/file", b"new").succeeds();
    overlay.holds(&[("moved", "first"), ("copied", "second"), ("third", "new")]);
    assert!(!overlay.root().join("first").exists());
    assert!(!overlay.root().join("second").exists());
    assert_eq!(fs::read_to_string(overlay.lower().join("third/sub/file")).unwrap(), "third");
}

#[test]
fn an_archive_is_merged_into_a_tree_of_the_lower_layer() {
    let Some(overlay) = Overlay::mount() else { return };
    let server = ServerProcess::start(&overlay.root(), &[]);
    let members = archive(&[("first/sub/file", b"newer"), ("first/sub/beside", b"x")]);
    server.connect().ask("POST", "/v1/fs/upload-batch?path=.", &TAR, &members).succeeds();
    overlay.holds(&[("first", "newer"), ("second", "second")]);
    assert!(overlay.root().join("first/sub/beside").exists());
}

/// The kernel exchanges nothing with a lower layer, and removing first would not be atomic.
#[test]
fn replacing_a_tree_of_the_lower_layer_is_refused_and_changes_nothing() {
    let Some(overlay) = Overlay::mount() else { return };
    let server = ServerProcess::start(&overlay.root(), &[]);
    for verb in ["move", "copy"] {
        let onto = json!({"from": "first", "to": "second", "overwrite": true});
        let refused = change(&server, verb, &onto);
        assert_eq!(refused.status, 501, "{}", refused.text());
        assert_eq!(refused.json()["kind"], "unsupported");
        overlay.holds(&[("first", "first"), ("second", "second"), ("third", "third")]);
        assert_eq!(fs::read_dir(overlay.root()).unwrap().count(), 3, "nothing is left behind");
    }
}

#[track_caller]
fn change(server: &ServerProcess, verb: &str, request: &serde_json::Value) -> Answer {
    let target = format!("/v1/fs/{verb}");
    server.connect().ask("POST", &target, &JSON, request.to_string().as_bytes())
}

/// An overlay over three directories, each with its own name in `sub/file`.
struct Overlay {
    place: TempDir,
    _merged: Mounted,
    _memory: Mounted,
}

impl Overlay {
    fn mount() -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let memory = Mounted::mount("tmpfs", "size=16m", "tmpfs", place.path())?;
        for dir in ["upper", "work", "merged"] {
            fs::create_dir(at(dir)).unwrap();
        }
        for tree in ["first", "second", "third"] {
            let sub = at("lower").join(tree).join("sub");
            fs::create_dir_all(&sub).unwrap();
            fs::write(sub.join("file"), tree).unwrap();
        }
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| text(&at(name)));
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        let merged = Mounted::mount("overlay", &options, "overlay", &at("merged"))?;
        Some(Self { place, _merged: merged, _memory: memory })
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("merged")
    }

    fn lower(&self) -> PathBuf {
        self.place.path().join("lower")
    }

    #[track_caller]
    fn holds(&self, trees: &[(&str, &str)]) {
        for (tree, content) in trees {
            let file = self.root().join(tree).join("sub/file");
            assert_eq!(fs::read_to_string(&file).unwrap(), *content, "{}", file.display());
        }
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
