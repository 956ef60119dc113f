//! Where settings come from, and which of them wins.

use std::fs;
use std::process::Command;

use crate::site::{Server, Site};

/// What `serve --print-config` says.
fn settings(command: &mut Command, flags: &[&str]) -> String {
    let output = command.args(["serve", "--print-config"]).args(flags).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_any_source_the_defaults_hold() {
    let said = settings(&mut Site::new().sandkeep(), &[]);
    for line in [
        "dir = \"sandbox\"  # default",
        "host = \"127.0.0.1\"  # default",
        "port = 2468  # default",
        "durability = \"full\"  # default",
        "no-token = false  # default",
        "# max-file-size is not set  # default",
    ] {
        assert!(said.lines().any(|said| said == line), "{line} is missing in\n{said}");
    }
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file() {
    let site = Site::new();
    let file = "port = 1\nhost = \"::1\"\nmax-nodes = 7\nmax-file-size = \"10MiB\"\n";
    fs::write(site.path("work/sandkeep.toml"), file).unwrap();
    let mut command = site.sandkeep();
    command.env("SANDKEEP_PORT", "2").env("SANDKEEP_MAX_NODES", "8");
    command.env("SANDKEEP_HOST", "localhost");
    let said = settings(&mut command, &["--port", "3"]);
    assert!(said.contains("port = 3  # flag\n"), "{said}");
    assert!(said.contains("host = \"localhost\"  # environment\n"), "{said}");
    assert!(said.contains("max-nodes = 8  # environment\n"), "{said}");
    assert!(said.contains("max-file-size = \"10MiB\"  # file\n"), "{said}");
    assert!(said.contains("log = \"info\"  # default\n"), "{said}");
}

#[test]
fn every_key_is_read_from_the_file() {
    let site = Site::new();
    let keys = [
        ("dir", "\"/srv/d\""),
        ("sandbox", "\"alice\""),
        ("snapshots", "\"file:/srv/snapshots\""),
        ("root-prefix", "\"/workspace\""),
        ("staging", "\"/srv/s\""),
        ("max-file-size", "\"1KiB\""),
        ("max-total-size", "\"2KiB\""),
        ("max-nodes", "3"),
        ("max-archive-size", "\"4KiB\""),
        ("max-archive-entries", "5"),
        ("max-connections", "6"),
        ("durability", "\"relaxed\""),
        ("cross-mounts", "true"),
        ("no-landlock", "true"),
        ("container-socket", "\"/srv/engine.sock\""),
        ("containers", "true"),
        ("host-roots", "[\"/srv/a\", \"/srv/b\"]"),
        ("strip-workspace-prefix", "true"),
        ("audit", "\"/srv/audit\""),
        ("sandbox-idle", "\"30s\""),
        ("rate-limit", "7"),
        ("max-transfers", "8"),
        ("host", "\"::1\""),
        ("port", "7"),
        ("no-token", "true"),
        ("cors-allow-origin", "[\"https://a.example\", \"https://b.example\"]"),
        ("cors-allow-method", "[\"GET\"]"),
        ("cors-allow-header", "[\"x-a\"]"),
        ("cors-allow-credentials", "true"),
        ("log", "\"debug\""),
        ("log-format", "\"json\""),
        ("json", "true"),
    ];
    let text: String = keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let tools: String = TOOLS.iter().map(|(key, _, value)| format!("{key} = {value}\n")).collect();
    fs::write(site.path("work/sandkeep.toml"), format!("{text}[tools]\n{tools}")).unwrap();
    let said = settings(&mut site.sandkeep(), &[]);
    let line = |key: &str, value: &str| format!("{key} = {value}  # file");
    let mut expected: Vec<String> = keys.iter().map(|(key, value)| line(key, value)).collect();
    expected.push("[tools]".to_owned());
    expected.extend(TOOLS.iter().map(|(key, _, value)| line(key, value)));
    assert_eq!(set(&said), expected);
}

/// What concerns the tools: the key, in the environment, and as it is told.
const TOOLS: [(&str, &str, &str); 8] = [
    ("default-encoding", "shift_jis", "\"shift_jis\""),
    ("max-file-size", "1k", "\"1KiB\""),
    ("max-result-bytes", "2KiB", "\"2KiB\""),
    ("allowed-path", "src,docs", "[\"src\", \"docs\"]"),
    ("blocked-path", "src/secret", "[\"src/secret\"]"),
    ("timeout", "2s", "\"2s\""),
    ("max-depth", "3", "3"),
    ("max-entries", "4", "4"),
];

/// The lines of settings that are set.
fn set(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

#[test]
fn every_key_is_read_from_the_environment() {
    let site = Site::new();
    let keys = [
        ("dir", "/srv/d", "\"/srv/d\""),
        ("sandbox", "alice", "\"alice\""),
        ("snapshots", "file:/srv/snapshots", "\"file:/srv/snapshots\""),
        ("root-prefix", "/workspace", "\"/workspace\""),
        ("staging", "/srv/s", "\"/srv/s\""),
        ("max-file-size", "1024", "\"1KiB\""),
        ("max-total-size", "2KiB", "\"2KiB\""),
        ("max-nodes", "3", "3"),
        ("max-archive-size", "4k", "\"4KiB\""),
        ("max-archive-entries", "5", "5"),
        ("max-connections", "6", "6"),
        ("durability", "relaxed", "\"relaxed\""),
        ("cross-mounts", "1", "true"),
        ("no-landlock", "yes", "true"),
        ("container-socket", "/srv/engine.sock", "\"/srv/engine.sock\""),
        ("containers", "on", "true"),
        ("host-roots", "/srv/a,/srv/b", "[\"/srv/a\", \"/srv/b\"]"),
        ("strip-workspace-prefix", "1", "true"),
        ("audit", "/srv/audit", "\"/srv/audit\""),
        ("sandbox-idle", "30s", "\"30s\""),
        ("rate-limit", "7", "7"),
        ("max-transfers", "8", "8"),
        ("host", "::1", "\"::1\""),
        ("port", "7", "7"),
        ("no-token", "true", "true"),
        (
            "cors-allow-origin",
            "https://a.example,https://b.example",
            "[\"https://a.example\", \"https://b.example\"]",
        ),
        ("cors-allow-method", "GET", "[\"GET\"]"),
        ("cors-allow-header", "x-a", "[\"x-a\"]"),
        ("cors-allow-credentials", "on", "true"),
        ("log", "debug", "\"debug\""),
        ("log-format", "json", "\"json\""),
        ("json", "true", "true"),
    ];
    let mut command = site.sandkeep();
    let name = |key: &str| format!("SANDKEEP_{}", key.to_uppercase().replace('-', "_"));
    for (key, value, _) in keys {
        command.env(name(key), value);
    }
    for (key, value, _) in TOOLS {
        command.env(name(&format!("tools-{key}")), value);
    }
    let said = settings(&mut command, &[]);
    let line = |key: &str, value: &str| format!("{key} = {value}  # environment");
    let mut expected: Vec<String> = keys.iter().map(|(key, _, value)| line(key, value)).collect();
    expected.push("[tools]".to_owned());
    expected.extend(TOOLS.iter().map(|(key, _, value)| line(key, value)));
    assert_eq!(set(&said), expected);
}

#[test]
fn a_store_in_place_of_the_directory_is_read_from_the_file_and_the_environment() {
    let site = Site::new();
    let file = "store = \"file:kept\"\nmax-nodes = \"none\"\nmax-total-size = 1024\n";
    fs::write(site.path("named.toml"), file).unwrap();
    let config = site.path("named.toml");
    let said = settings(&mut site.sandkeep(), &["--config", config.to_str().unwrap()]);
    let store = format!("store = \"file:{}\"  # file", site.path("kept").display());
    for line in [
        store.as_str(),
        "# dir is not set  # default",
        "sandbox = \"main\"  # default",
        "root-prefix = \"/\"  # default",
        "max-nodes = \"none\"  # file",
        "max-total-size = \"1KiB\"  # file",
    ] {
        assert!(said.lines().any(|said| said == line), "{line} is missing in\n{said}");
    }
    let mut command = site.sandkeep();
    command.env("SANDKEEP_STORE", "memory:").env("SANDKEEP_SANDBOX", "alice");
    let said = settings(&mut command, &[]);
    assert!(said.contains("store = \"memory:\"  # environment\n"), "{said}");
    assert!(said.contains("sandbox = \"alice\"  # environment\n"), "{said}");
}

#[test]
fn the_strongest_place_that_speaks_of_a_tree_says_which_it_is() {
    let site = Site::new();
    let file = "dir = \"d\"\nstaging = \"s\"\ndurability = \"relaxed\"\n";
    fs::write(site.path("work/sandkeep.toml"), file).unwrap();
    let said = settings(&mut site.sandkeep(), &["--store", "memory:"]);
    assert!(said.contains("store = \"memory:\"  # flag\n"), "{said}");
    assert!(said.contains("durability = \"full\""), "what a weaker place says goes: {said}");
    let said = settings(site.sandkeep().env("SANDKEEP_STORE", "memory:"), &["elsewhere"]);
    assert!(said.contains("dir = \"elsewhere\"  # flag\n"), "{said}");
    assert!(said.contains("# store is not set"), "{said}");
    let mut command = site.sandkeep();
    command.env("SANDKEEP_STORE", "memory:").env("SANDKEEP_DIR", "elsewhere");
    let said = refusal(command.arg("serve"));
    assert!(said.contains("DIR and --store contradict each other"), "{said}");
}

#[test]
fn a_container_in_place_of_the_directory_is_read_from_every_place() {
    let site = Site::new();
    let file = "container = \"web\"\ncontainer-path = \"/workspace\"\nno-landlock = true\n";
    fs::write(site.path("work/sandkeep.toml"), file).unwrap();
    let said = settings(&mut site.sandkeep(), &[]);
    for line in [
        "# dir is not set  # default",
        "root-prefix = \"/\"  # default",
        "container = \"web\"  # file",
        "container-path = \"/workspace\"  # file",
        "# pid is not set  # default",
    ] {
        assert!(said.lines().any(|said| said == line), "{line} is missing in\n{said}");
    }
    let said = settings(site.sandkeep().env("SANDKEEP_PID", "7"), &[]);
    assert!(said.contains("pid = 7  # environment\n"), "{said}");
    assert!(said.contains("# container is not set"), "{said}");
    // A directory that is named on the command line is stronger than both.
    let said = settings(site.sandkeep().env("SANDKEEP_PID", "7"), &["elsewhere"]);
    assert!(said.contains("dir = \"elsewhere\"  # flag\n"), "{said}");
    assert!(said.contains("# pid is not set") && said.contains("# container is not set"), "{said}");
}

#[test]
fn a_limit_is_a_number_or_none() {
    let said = refusal(Site::new().sandkeep().args(["serve", "--max-nodes", "many"]));
    assert!(said.contains("`none` lifts the limit"), "{said}");
    let said = settings(
        Site::new().sandkeep().env("SANDKEEP_MAX_FILE_SIZE", "1k"),
        &["--max-file-size", "none"],
    );
    assert!(said.contains("max-file-size = \"none\"  # flag\n"), "{said}");
}

#[test]
fn a_token_is_never_shown() {
    let site = Site::new();
    let said = settings(site.sandkeep().env("SANDKEEP_TOKEN", "hush"), &[]);
    assert!(
        said.contains("# token is hidden  # environment\n") && !said.contains("hush"),
        "{said}"
    );
}

#[test]
fn a_switch_of_the_file_can_be_taken_back_by_a_flag() {
    let site = Site::new();
    fs::write(site.path("work/sandkeep.toml"), "no-landlock = true\n").unwrap();
    let said = settings(&mut site.sandkeep(), &["--no-landlock=false"]);
    assert!(said.contains("no-landlock = false  # flag\n"), "{said}");
}

#[test]
fn the_file_in_the_configuration_directory_is_found_last() {
    let site = Site::new();
    fs::create_dir_all(site.path("home/.config/sandkeep")).unwrap();
    fs::write(site.path("home/.config/sandkeep/sandkeep.toml"), "port = 11\n").unwrap();
    assert!(settings(&mut site.sandkeep(), &[]).contains("port = 11  # file\n"));
    fs::create_dir_all(site.path("xdg/sandkeep")).unwrap();
    fs::write(site.path("xdg/sandkeep/sandkeep.toml"), "port = 12\n").unwrap();
    let said = settings(site.sandkeep().env("XDG_CONFIG_HOME", site.path("xdg")), &[]);
    assert!(said.contains("port = 12  # file\n"));
    fs::write(site.path("work/sandkeep.toml"), "port = 13\n").unwrap();
    assert!(settings(&mut site.sandkeep(), &[]).contains("port = 13  # file\n"));
    fs::write(site.path("named.toml"), "port = 14\n").unwrap();
    let said = settings(site.sandkeep().env("SANDKEEP_CONFIG", site.path("named.toml")), &[]);
    assert!(said.contains("port = 14  # file\n"));
}

#[test]
fn a_misspelt_key_is_refused_with_the_near_name() {
    let site = Site::new();
    fs::write(site.path("work/sandkeep.toml"), "max-file-sise = 1\n").unwrap();
    let said = refusal(site.sandkeep().arg("serve"));
    assert!(said.contains("unknown key `max-file-sise`; did you mean `max-file-size`?"), "{said}");
}

#[test]
fn a_named_file_must_exist() {
    let said = refusal(Site::new().sandkeep().args(["serve", "--config", "nowhere.toml"]));
    assert!(said.contains("the configuration file nowhere.toml does not exist"), "{said}");
}

#[test]
fn a_wrong_variable_is_named() {
    let said = refusal(Site::new().sandkeep().arg("serve").env("SANDKEEP_MAX_FILE_SIZE", "huge"));
    assert!(said.contains("the value comes from the environment variable SANDKEEP_MAX_FILE_SIZE"));
}

#[test]
fn a_file_inside_the_served_directory_is_not_obeyed_unless_it_is_named() {
    let site = Site::new();
    fs::write(site.inner("sandkeep.toml"), "port = 0\njson = true\nno-token = true\n").unwrap();
    let mut command = site.sandkeep();
    command.current_dir(site.path("sandbox")).args(["serve", "."]);
    let said = refusal(&mut command);
    assert!(said.contains("lies inside the directory it would configure"), "{said}");
    assert!(said.contains("hint: move it away, or name it if you mean it: --config sandkeep.toml"));
    let mut command = site.sandkeep();
    command.current_dir(site.path("sandbox")).args(["serve", ".", "--config", "sandkeep.toml"]);
    Server::start(command).stop();
}

#[test]
fn a_token_and_no_token_contradict_each_other_in_one_place_only() {
    let site = Site::new();
    let said = refusal(site.sandkeep().args(["serve", "--token", "t", "--no-token"]));
    assert!(said.contains("--token and --no-token contradict each other"), "{said}");
    let mut command = site.sandkeep();
    command.args(["serve", "--no-token", "--port", "0", "--json"]).env("SANDKEEP_TOKEN", "t");
    let server = Server::start(command);
    assert!(server.started["token"].is_null());
}

/// What a request without a token is answered.
fn anonymous(server: &Server) -> String {
    let mut curl = Command::new("curl");
    curl.args(["-sS", "-o", "/dev/null", "-w", "%{http_code}"]);
    let output = curl.arg(format!("{}/v1/health", server.url())).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_token_before_the_word_does_not_silence_a_token_behind_it() {
    for words in [
        ["-n", "serve", "--token", "late"].as_slice(),
        &["-t", "early", "serve", "--no-token"],
        &["-n", "server", "--token", "late"],
        &["-t", "early", "server", "--no-token"],
        &["-n", "fs", "--token", "late", "list"],
    ] {
        let output = Site::new().sandkeep().args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("--token and --no-token contradict each other"), "{said}");
    }
}

#[test]
fn a_token_behind_the_word_beats_one_before_it() {
    for word in ["serve", "server"] {
        let site = Site::new();
        let mut command = site.sandkeep();
        command.args(["-t", "early", word, "--token", "late", "--port", "0", "--json"]);
        let server = Server::start(command);
        let reach = ["fs", "-e", server.url(), "list", "--token"];
        site.run(&[&reach[..], &["late"]].concat()).success();
        site.run(&[&reach[..], &["early"]].concat()).code(4);
    }
}

#[test]
fn an_empty_variable_is_as_good_as_unset() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.env("SANDKEEP_TOKEN", "").env("SANDKEEP_NO_TOKEN", "").env("SANDKEEP_HOST", "");
    command.args(["serve", "--port", "0", "--json"]);
    let server = Server::start(command);
    assert_eq!(server.started["token"].as_str().unwrap().len(), 64);
    assert_eq!(anonymous(&server), "401");
    fs::write(site.path("work/sandkeep.toml"), "token = \"t\"\n").unwrap();
    let said = settings(site.sandkeep().env("SANDKEEP_TOKEN", ""), &[]);
    assert!(said.contains("# token is hidden  # file\n"), "{said}");
}

#[test]
fn a_token_of_the_wrong_type_is_not_repeated() {
    let site = Site::new();
    fs::write(site.path("work/sandkeep.toml"), "token = 1234567\n").unwrap();
    let said = refusal(site.sandkeep().arg("serve"));
    assert!(said.contains("the value of `token` is not a text in quotes"), "{said}");
    assert!(!said.contains("1234567"), "{said}");
}
