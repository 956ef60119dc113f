//! What the packages say of themselves.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const LICENCE: &str = "Apache-2.0";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

/// The manifests of our packages.
fn manifests() -> Vec<(PathBuf, toml::Table)> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let places = crates.map(|entry| entry.unwrap().path().join("Cargo.toml"));
    places.map(|path| (path.clone(), read(&path).parse().unwrap())).collect()
}

#[test]
fn everything_of_ours_is_under_the_apache_licence() {
    assert!(read("LICENSE").contains("Apache License"));
    let workspace: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(workspace["workspace"]["package"]["license"].as_str(), Some(LICENCE));
    for (path, manifest) in manifests() {
        let inherited = manifest["package"]["license"]["workspace"].as_bool();
        assert_eq!(inherited, Some(true), "{}", path.display());
    }
    let package: Value = serde_json::from_str(&read("sdks/typescript/package.json")).unwrap();
    assert_eq!(package["license"], LICENCE);
    assert!(read("sdks/typescript/LICENSE").contains("Apache License"));
}

#[test]
fn our_packages_have_names_of_our_own() {
    for (path, manifest) in manifests() {
        let name = manifest["package"]["name"].as_str().unwrap();
        assert!(name.starts_with("sandkeep-"), "{}", path.display());
    }
    let package: Value = serde_json::from_str(&read("sdks/typescript/package.json")).unwrap();
    assert_eq!(package["name"], "sandkeep");
}
