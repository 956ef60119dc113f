//! Listings: whole, in pages, of trees, chosen and sorted.

use serde_json::{Value, json};

use super::{KINDS, VIRTUAL, fields, names, put, serving};
use crate::http::{Server, ask, encoded};

/// A server whose trees hold `a/x`, `a/y`, `a/z.rs`, `b.rs`, `c`.
async fn filled() -> Server {
    let server = serving().await;
    for root in KINDS {
        for (path, content) in
            [("a/x", "1"), ("a/y/deep", "22"), ("a/z.rs", "333"), ("b.rs", "4444"), ("c", "")]
        {
            put(&server, root, path, content).await;
        }
    }
    server
}

#[tokio::test]
async fn the_root_is_listed_by_both_of_its_spellings() {
    let server = filled().await;
    for root in KINDS {
        let (one, other) = (
            server.get(&format!("{root}/fs-list")).await,
            server.get(&format!("{root}/fs-list/")).await,
        );
        assert_eq!((one.status, one.text()), (200, other.text()), "{root}");
        assert_eq!(fields(&one, "name"), ["a", "b.rs", "c"]);
    }
}

#[tokio::test]
async fn an_entry_has_a_name_a_size_a_time_and_a_kind() {
    let server = filled().await;
    for root in KINDS {
        let listing = server.get(&format!("{root}/fs-list")).await.json();
        let (directory, file) = (&listing["entries"][0], &listing["entries"][1]);
        assert_eq!((&directory["is_dir"], &directory["size"]), (&json!(true), &json!(0)), "{root}");
        assert_eq!((&file["is_dir"], &file["size"]), (&json!(false), &json!(4)));
        assert!(file["mod_time"].as_i64().unwrap() > 1_600_000_000, "{file}");
        assert_eq!((&directory["kind"], &file["kind"]), (&json!("directory"), &json!("file")));
        assert_eq!((&listing["total"], &listing["truncated"]), (&json!(3), &json!(false)));
        assert_eq!(file.get("stat"), None);
    }
}

#[tokio::test]
async fn details_are_what_a_stat_tells() {
    let server = filled().await;
    for root in KINDS {
        let listing = server.get(&format!("{root}/fs-list/a?details=true")).await.json();
        let stat = server.get(&format!("{root}/fs-stat/a/z.rs")).await.json();
        assert_eq!(listing["entries"][2]["stat"], stat, "{root}");
        assert_eq!(stat["path"], "a/z.rs");
    }
}

#[tokio::test]
async fn a_file_is_not_listed_and_a_missing_directory_is_404() {
    let server = filled().await;
    for root in KINDS {
        server.get(&format!("{root}/fs-list/c")).await.is_kind(400, "not_a_directory");
        server.get(&format!("{root}/fs-list/no")).await.is_kind(404, "not_found");
    }
}

#[tokio::test]
async fn ten_thousand_entries_come_whole() {
    let server = serving().await;
    let many: Vec<String> = (0..10_000).map(|n| format!("f{n:05}")).collect();
    many.iter().for_each(|name| server.put(name, ""));
    let steps = many.iter().map(|name| json!({"op": "write", "path": name, "text": ""}));
    let steps = Value::from_iter(steps).to_string();
    assert_eq!(server.post_json(&format!("{VIRTUAL}/fs-batch"), &steps).await.status, 200);
    for root in KINDS {
        let listing = server.get(&format!("{root}/fs-list")).await;
        assert!(fields(&listing, "name") == many, "{root}");
        let listing = listing.json();
        assert_eq!((&listing["total"], &listing["truncated"]), (&json!(10_000), &json!(false)));
        assert_eq!(listing.get("next_cursor"), None);
        let page = server.get(&format!("{root}/fs-list?offset=9990&limit=100")).await;
        assert_eq!(fields(&page, "name"), many[9990..], "{root}");
        let page = page.json();
        assert_eq!((&page["total"], &page["truncated"]), (&json!(10_000), &json!(false)));
    }
}

/// All pages of a listing, by their cursors.
async fn pages(server: &Server, target: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = server.get(&format!("{target}{cursor}")).await;
        pages.push(fields(&answer, "name"));
        let listing = answer.json();
        assert_eq!(listing["truncated"] == json!(true), listing["next_cursor"].is_string());
        let Some(next) = listing["next_cursor"].as_str() else { return pages };
        cursor = format!("&cursor={}", encoded(next));
    }
}

#[tokio::test]
async fn pages_follow_each_other_by_their_cursors() {
    let server = filled().await;
    for root in KINDS {
        let flat = pages(&server, &format!("{root}/fs-list?limit=2")).await;
        assert_eq!(flat, [vec!["a", "b.rs"], vec!["c"]], "{root}");
        let deep = pages(&server, &format!("{root}/fs-list?recursive=true&limit=3")).await;
        assert_eq!(deep, [vec!["a", "x", "y"], vec!["deep", "z.rs", "b.rs"], vec!["c"]], "{root}");
    }
}

#[tokio::test]
async fn a_page_that_ends_with_the_directory_is_not_truncated() {
    let server = filled().await;
    for root in KINDS {
        let listing = server.get(&format!("{root}/fs-list?limit=3")).await.json();
        assert_eq!(listing["truncated"], false, "{root}");
        assert_eq!(listing.get("next_cursor"), None);
    }
}

#[tokio::test]
async fn pages_by_offset_tell_how_many_there_are() {
    let server = filled().await;
    for root in KINDS {
        let page = server.get(&format!("{root}/fs-list?offset=1&limit=1")).await;
        assert_eq!(fields(&page, "name"), ["b.rs"], "{root}");
        assert_eq!((&page.json()["total"], &page.json()["truncated"]), (&json!(3), &json!(true)));
        let behind = server.get(&format!("{root}/fs-list?offset=99&limit=1")).await;
        assert_eq!((fields(&behind, "name").len(), &behind.json()["total"]), (0, &json!(3)));
    }
}

#[tokio::test]
async fn a_whole_tree_is_listed_with_paths_to_the_asked_depth() {
    let server = filled().await;
    for root in KINDS {
        let all = server.get(&format!("{root}/fs-list?recursive=true")).await;
        let expected = ["a", "a/x", "a/y", "a/y/deep", "a/z.rs", "b.rs", "c"];
        assert_eq!(fields(&all, "path"), expected, "{root}");
        assert_eq!(all.json()["total"], 7);
        let two = server.get(&format!("{root}/fs-list?recursive=true&depth=2")).await;
        assert_eq!(fields(&two, "path"), ["a", "a/x", "a/y", "a/z.rs", "b.rs", "c"], "{root}");
        let beneath = server.get(&format!("{root}/fs-list/a?recursive=true")).await;
        assert_eq!(fields(&beneath, "path"), ["x", "y", "y/deep", "z.rs"], "{root}");
    }
}

#[tokio::test]
async fn a_listing_holds_what_fits_a_glob_and_a_kind() {
    let server = filled().await;
    for root in KINDS {
        let tree = format!("{root}/fs-list?recursive=true");
        let rust = server.get(&format!("{tree}&glob=*.rs")).await;
        assert_eq!(fields(&rust, "path"), ["a/z.rs", "b.rs"], "{root}");
        let beneath = server.get(&format!("{tree}&glob=a/**")).await;
        assert!(fields(&beneath, "path").contains(&"a/y/deep".to_owned()), "{root}");
        let directories = server.get(&format!("{tree}&kind=directory")).await;
        assert_eq!(fields(&directories, "path"), ["a", "a/y"], "{root}");
        assert_eq!(directories.json()["total"], 2);
    }
}

#[tokio::test]
async fn a_listing_is_sorted_as_asked() {
    let server = filled().await;
    for root in KINDS {
        let tree = format!("{root}/fs-list?recursive=true&kind=file");
        let smallest = server.get(&format!("{tree}&sort=size")).await;
        assert_eq!(fields(&smallest, "size"), ["0", "1", "2", "3", "4"], "{root}");
        let greatest = server.get(&format!("{tree}&sort=size&order=desc&limit=2")).await;
        assert_eq!(fields(&greatest, "size"), ["4", "3"], "{root}");
        assert_eq!(
            (&greatest.json()["total"], &greatest.json()["truncated"]),
            (&json!(5), &json!(true))
        );
        let second = server.get(&format!("{tree}&sort=size&order=desc&limit=2&offset=2")).await;
        assert_eq!(fields(&second, "size"), ["2", "1"], "{root}");
        assert_eq!(names(&server, &format!("{root}/fs-list?order=desc")).await, ["c", "b.rs", "a"]);
    }
}

#[tokio::test]
async fn a_tree_the_other_way_round_is_the_tree_backwards() {
    let server = filled().await;
    for root in KINDS {
        put(&server, root, "a.b", "").await;
        let tree = format!("{root}/fs-list?recursive=true");
        let mut forwards = fields(&server.get(&tree).await, "path");
        let backwards = fields(&server.get(&format!("{tree}&order=desc")).await, "path");
        forwards.reverse();
        assert_eq!(backwards, forwards, "{root}");
    }
}

#[tokio::test]
async fn a_listing_is_sorted_by_time() {
    let server = filled().await;
    for root in KINDS {
        for (path, time) in [("c", "2001-01-01T00:00:00Z"), ("b.rs", "2002-01-01T00:00:00.5Z")] {
            let target = format!("{root}/fs-chmod/{path}");
            let body = json!({"modified": time}).to_string();
            assert_eq!(server.post_json(&target, &body).await.status, 200);
        }
        assert_eq!(
            names(&server, &format!("{root}/fs-list?sort=modified")).await,
            ["c", "b.rs", "a"]
        );
    }
}

#[tokio::test]
async fn options_that_contradict_each_other_are_400() {
    let server = filled().await;
    for query in [
        "limit=0",
        "depth=2",
        "recursive=true&depth=0",
        "cursor=a&offset=1",
        "sort=size&cursor=a",
        "sort=colour",
        "kind=door",
        "cursor=elsewhere/x&recursive=true",
        "glob=[",
    ] {
        let answer = server.get(&format!("{}/fs-list/a?{query}", KINDS[1])).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
        let problem: Value = answer.json();
        assert!(problem["error"].is_string() && problem["hint"].is_string(), "{problem}");
    }
}

#[tokio::test]
async fn a_tree_goes_on_behind_a_link_without_going_into_it() {
    let server = serving().await;
    for at in KINDS {
        for path in ["d/inside.txt", "z.txt"] {
            put(&server, at, path, "x").await;
        }
        let link =
            ask("PUT", &format!("{at}/fs-link/e")).header("content-type", "application/json");
        server.send(link.body(r#"{"target": "d"}"#)).await;
        let (mut cursor, mut paths) = (String::new(), Vec::new());
        loop {
            let page = server.get(&format!("{at}/fs-list?recursive=true&limit=1{cursor}")).await;
            let page = page.json();
            paths.extend(page["entries"].as_array().unwrap().iter().map(|one| one["path"].clone()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={}", encoded(next)),
                None => break,
            }
        }
        assert_eq!(paths, ["d", "d/inside.txt", "e", "z.txt"], "{at}");
    }
}
