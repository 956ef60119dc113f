//! Content comes as it is.

use serde_json::{Value, json};

use crate::fixture::Bench;

#[tokio::test]
async fn what_was_written_is_read_to_the_last_space() {
    for bench in Bench::each().await {
        for content in ["  hi\n\n", "", "\n", "\t\r\n x ", "\u{feff}mark", "no end"] {
            bench.ok("write_file", json!({ "path": "/f", "content": content })).await;
            let data = bench.ok("read_file", json!({ "path": "/f" })).await;
            assert_eq!(data["content"], content);
            assert_eq!(data["encoding"], "utf-8");
            assert_eq!(data["size"], content.len());
        }
    }
}

#[tokio::test]
async fn a_long_text_of_many_letters_has_no_replacement_character() {
    let content = "añ€😀".repeat(250_000);
    for bench in Bench::each().await {
        bench.put(&[("/f", &content)]).await;
        let data = bench.ok("read_file", json!({ "path": "/f" })).await;
        assert!(data["content"] == content.as_str());
    }
}

#[tokio::test]
async fn ten_mebibytes_go_in_and_out_unchanged() {
    let content: String =
        (0..10 << 20).map(|place| char::from(b'a' + (place % 26) as u8)).collect();
    for bench in Bench::each().await {
        let arguments = json!({ "path": "/big", "content": content });
        let result = bench.run("write_file", arguments).await;
        assert_eq!(result.metadata.bytes_written, Some(10 << 20));
        let result = bench.run("read_file", json!({ "path": "/big" })).await;
        assert_eq!(result.metadata.bytes_read, Some(10 << 20));
        assert!(result.data.unwrap()["content"] == content.as_str());
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused_or_come_as_base64() {
    let bytes: Vec<u8> = (0..=255).collect();
    for bench in Bench::each().await {
        bench.put_bytes("/bin", &bytes).await;
        let (kind, result) = bench.err("read_file", json!({ "path": "/bin" })).await;
        assert_eq!(kind, "invalid_argument");
        assert!(result.error.unwrap().contains("base64"));
        for encoding in ["base64", "auto"] {
            let arguments = json!({ "path": "/bin", "encoding": encoding });
            let data = bench.ok("read_file", arguments).await;
            assert_eq!(data["encoding"], "base64");
            let content = data["content"].as_str().unwrap();
            assert!(!content.contains('\n'));
            let arguments = json!({ "path": "/copy", "content": content, "encoding": "base64" });
            bench.ok("write_file", arguments).await;
            assert_eq!(bench.bytes("/copy").await, bytes);
        }
    }
}

#[tokio::test]
async fn encodings_are_named_and_recognised() {
    let text = "日本語のテキストファイルです。ひらがなとカタカナと漢字があります。\n";
    for bench in Bench::each().await {
        for encoding in ["shift_jis", "euc-jp", "utf-16le", "utf-16be", "gb18030", "iso-2022-jp"] {
            let arguments = json!({ "path": "/t", "content": text, "encoding": encoding });
            bench.ok("write_file", arguments).await;
            assert_ne!(bench.bytes("/t").await, text.as_bytes());
            let arguments = json!({ "path": "/t", "encoding": encoding });
            let data = bench.ok("read_file", arguments).await;
            assert_eq!(data["content"], text, "{encoding}");
        }
        let arguments = json!({ "path": "/t", "content": text, "encoding": "shift_jis" });
        bench.ok("write_file", arguments).await;
        let data = bench.ok("read_file", json!({ "path": "/t", "encoding": "auto" })).await;
        assert_eq!((&data["content"], &data["encoding"]), (&json!(text), &json!("shift_jis")));
        let (kind, result) =
            bench.err("read_file", json!({ "path": "/t", "encoding": "klingon" })).await;
        assert_eq!(kind, "invalid_argument");
        assert!(result.error.unwrap().contains("klingon"));
    }
}

#[tokio::test]
async fn a_letter_that_an_encoding_lacks_is_refused_and_the_file_stays() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "old")]).await;
        let arguments = json!({ "path": "/f", "content": "漢", "encoding": "latin1" });
        let (kind, _) = bench.err("write_file", arguments).await;
        assert_eq!(kind, "invalid_argument");
        assert_eq!(bench.bytes("/f").await, b"old");
    }
}

#[tokio::test]
async fn lines_are_read_by_number() {
    let text = "one\ntwo\r\nthree\n\nfive";
    for bench in Bench::each().await {
        bench.put(&[("/f", text)]).await;
        let read = async |arguments: Value| bench.ok("read_file", arguments).await;
        let data = read(json!({ "path": "/f", "startLine": 2, "endLine": 3 })).await;
        assert_eq!(data["content"], "two\r\nthree\n");
        assert_eq!(data["lines"], json!({ "start": 2, "end": 3, "total": 5 }));
        assert_eq!(data["range"], json!({ "start": 4, "end": 15 }));
        let data = read(json!({ "path": "/f", "startLine": 4 })).await;
        assert_eq!(data["content"], "\nfive");
        let data = read(json!({ "path": "/f", "endLine": 1 })).await;
        assert_eq!(data["content"], "one\n");
        let data = read(json!({ "path": "/f", "endLine": 99 })).await;
        assert_eq!(data["lines"]["end"], 5);
        let data = read(json!({ "path": "/f", "tail": 2 })).await;
        assert_eq!(data["content"], "\nfive");
        let (kind, result) = bench.err("read_file", json!({ "path": "/f", "startLine": 6 })).await;
        assert_eq!(kind, "range_not_satisfiable");
        assert!(result.error.unwrap().contains("5 lines"));
    }
}

#[tokio::test]
async fn lines_of_utf_16_are_read_by_number_too() {
    for bench in Bench::each().await {
        let arguments = json!({ "path": "/f", "content": "a\nĊ\nc\n", "encoding": "utf-16le" });
        bench.ok("write_file", arguments).await;
        let arguments =
            json!({ "path": "/f", "encoding": "utf-16le", "startLine": 2, "endLine": 2 });
        assert_eq!(bench.ok("read_file", arguments).await["content"], "Ċ\n");
        let arguments = json!({ "path": "/f", "encoding": "utf-16le", "tail": 1 });
        assert_eq!(bench.ok("read_file", arguments).await["content"], "c\n");
    }
}

#[tokio::test]
async fn bytes_are_read_by_offset() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "0123456789"), ("/letters", "x€y")]).await;
        let data = bench.ok("read_file", json!({ "path": "/f", "offset": 2, "length": 3 })).await;
        assert_eq!(
            (&data["content"], &data["range"]),
            (&json!("234"), &json!({"start":2,"end":5}))
        );
        let data = bench.ok("read_file", json!({ "path": "/f", "offset": 8 })).await;
        assert_eq!(data["content"], "89");
        let (kind, _) = bench.err("read_file", json!({ "path": "/f", "offset": 10 })).await;
        assert_eq!(kind, "range_not_satisfiable");
        // A part never ends inside a letter, and one that begins there says where the next one is.
        let arguments = json!({ "path": "/letters", "offset": 0, "length": 3 });
        let result = bench.run("read_file", arguments).await;
        assert_eq!(result.data.unwrap()["content"], "x");
        assert_eq!(result.metadata.truncated.unwrap().next.unwrap()["offset"], 1);
        let (_, result) = bench.err("read_file", json!({ "path": "/letters", "offset": 2 })).await;
        assert!(result.error.unwrap().contains("the next one begins at 4"));
    }
}

#[tokio::test]
async fn parts_that_exclude_each_other_are_refused() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "x")]).await;
    for arguments in [
        json!({ "path": "/f", "offset": 0, "startLine": 1 }),
        json!({ "path": "/f", "tail": 1, "length": 1 }),
        json!({ "path": "/f", "startLine": 0 }),
        json!({ "path": "/f", "startLine": 3, "endLine": 2 }),
        json!({ "path": "/f", "tail": 0 }),
        json!({ "path": "/f", "length": 0 }),
        json!({ "path": "/f", "offset": -1 }),
    ] {
        assert_eq!(bench.err("read_file", arguments).await.0, "invalid_argument");
    }
}

/// Reads a file to its end by what each answer says about the next one.
async fn read_on(bench: &Bench, mut arguments: Value) -> (String, usize) {
    let (mut whole, mut calls) = (String::new(), 0);
    loop {
        let result = bench.run("read_file", arguments.clone()).await;
        assert!(result.success, "{arguments}: {:?}", result.error);
        let data = result.data.unwrap();
        let content = data["content"].as_str().unwrap();
        assert!(content.len() as u64 <= bench.settings.max_result_bytes);
        whole.push_str(content);
        calls += 1;
        let Some(truncated) = result.metadata.truncated else { return (whole, calls) };
        assert!(truncated.returned > 0 && truncated.returned < truncated.total.unwrap_or(u64::MAX));
        arguments.as_object_mut().unwrap().extend(truncated.next.unwrap());
    }
}

#[tokio::test]
async fn whoever_follows_next_gets_the_whole_file() {
    let text: String = (0..500).map(|line| format!("{line}: größer € 😀\n")).collect();
    let one_line = "añ€😀".repeat(300);
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &text), ("/long", &one_line)]).await;
        bench.settings.max_result_bytes = 1001;
        for arguments in [
            json!({ "path": "/f" }),
            json!({ "path": "/f", "offset": 0, "length": 1 << 20 }),
            json!({ "path": "/f", "startLine": 1 }),
            json!({ "path": "/f", "startLine": 1, "endLine": 500 }),
        ] {
            let (whole, calls) = read_on(&bench, arguments).await;
            assert_eq!(whole, text);
            assert!(calls > 5);
        }
        for arguments in [json!({ "path": "/long" }), json!({ "path": "/long", "startLine": 1 })] {
            assert_eq!(read_on(&bench, arguments).await.0, one_line);
        }
    }
}

#[tokio::test]
async fn the_last_lines_that_fit_are_whole_ones() {
    let text: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &text)]).await;
        let data = bench.ok("read_file", json!({ "path": "/f", "tail": 4000 })).await;
        assert!(data["content"].as_str().unwrap().starts_with("line 1000\n"));
        bench.settings.max_result_bytes = 100;
        let result = bench.run("read_file", json!({ "path": "/f", "tail": 50 })).await;
        let content = result.data.unwrap()["content"].as_str().unwrap().to_owned();
        assert!(content.starts_with("line ") && content.ends_with("line 4999\n"));
        assert_eq!(result.metadata.truncated.unwrap().returned, 10);
    }
}

#[tokio::test]
async fn a_file_that_is_too_long_is_refused_whole_and_read_in_parts() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &"line\n".repeat(1000))]).await;
        bench.settings.max_file_size = 4999;
        let (kind, result) = bench.err("read_file", json!({ "path": "/f" })).await;
        assert_eq!(kind, "file_too_large");
        assert!(result.metadata.hint.unwrap().contains("startLine"));
        let data = bench.ok("read_file", json!({ "path": "/f", "endLine": 2 })).await;
        assert_eq!(data["content"], "line\nline\n");
        assert_eq!(data["lines"]["total"], Value::Null);
        bench.settings.max_file_size = 5000;
        bench.ok("read_file", json!({ "path": "/f" })).await;
    }
}

#[tokio::test]
async fn an_empty_file_can_be_asked_for_in_every_way() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "")]).await;
        for more in [
            json!({}),
            json!({ "offset": 0 }),
            json!({ "offset": 0, "length": 5 }),
            json!({ "startLine": 1 }),
            json!({ "tail": 3 }),
            json!({ "encoding": "auto" }),
            json!({ "encoding": "base64" }),
        ] {
            let mut arguments = json!({ "path": "/f" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(bench.ok("read_file", arguments).await["content"], "", "{more}");
        }
    }
}

#[tokio::test]
async fn whoever_asks_for_less_than_a_letter_gets_one_letter() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", "a€€😀z")]).await;
        for length in 1..=12 {
            let arguments = json!({ "path": "/f", "offset": 0, "length": length });
            let (whole, calls) = read_on(&bench, arguments).await;
            assert!(calls < 4 && "a€€😀z".starts_with(&whole) && whole.len() >= length);
        }
        let arguments = json!({ "path": "/f", "offset": 2, "length": 2 });
        let (kind, result) = bench.err("read_file", arguments).await;
        assert_eq!(kind, "invalid_argument");
        assert!(result.error.unwrap().contains("the next one begins at 4"));
        bench.settings.max_result_bytes = 1;
        let mut arguments = json!({ "path": "/f" });
        let mut whole = String::new();
        for _ in 0..10 {
            let result = bench.run("read_file", arguments.clone()).await;
            whole.push_str(result.data.unwrap()["content"].as_str().unwrap());
            let Some(truncated) = result.metadata.truncated else { break };
            arguments.as_object_mut().unwrap().extend(truncated.next.unwrap());
        }
        assert_eq!(whole, "a€€😀z");
    }
}

#[tokio::test]
async fn no_number_of_a_line_is_too_high() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &"line\n".repeat(100))]).await;
        bench.settings.max_result_bytes = 50;
        for longest in [10, 1 << 20] {
            bench.settings.max_file_size = longest;
            let arguments = json!({ "path": "/f", "startLine": 1, "endLine": u64::MAX });
            let truncated = bench.run("read_file", arguments).await.metadata.truncated.unwrap();
            // Lines that nobody counted are not told of.
            assert_eq!(truncated.total, (longest > 500).then_some(100));
        }
        let arguments = json!({ "path": "/f", "offset": u64::MAX, "length": u64::MAX });
        assert_eq!(bench.err("read_file", arguments).await.0, "range_not_satisfiable");
        let truncated = bench.run("read_file", json!({ "path": "/f", "tail": 4000 })).await;
        assert_eq!(truncated.metadata.truncated.unwrap().total, None);
    }
}

#[tokio::test]
async fn a_long_line_of_a_long_file_ends_where_it_ends() {
    let line = "añ€😀".repeat(100_000);
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &format!("one\n{line}\nthree\n"))]).await;
        bench.settings.max_result_bytes = 700_000;
        bench.settings.max_file_size = 1_000_000;
        let arguments = json!({ "path": "/f", "startLine": 2, "endLine": 2 });
        assert_eq!(read_on(&bench, arguments).await.0, format!("{line}\n"));
    }
}

#[tokio::test]
async fn what_can_only_be_read_whole_is_not_promised_in_parts() {
    for mut bench in Bench::each().await {
        let text = "日本語".repeat(100);
        let arguments = json!({ "path": "/f", "content": text, "encoding": "iso-2022-jp" });
        bench.ok("write_file", arguments).await;
        bench.settings.max_result_bytes = 100;
        let arguments = json!({ "path": "/f", "encoding": "iso-2022-jp" });
        let (kind, result) = bench.err("read_file", arguments).await;
        assert_eq!(kind, "file_too_large");
        assert!(result.metadata.hint.unwrap().contains("base64"));
    }
}

#[tokio::test]
async fn what_turns_out_to_be_no_text_keeps_to_the_budget() {
    for mut bench in Bench::each().await {
        let mut bytes = "text ".repeat(20_000).into_bytes();
        bytes.extend([0xFF; 100]);
        bench.put_bytes("/f", &bytes).await;
        bench.settings.max_result_bytes = 1000;
        let arguments = json!({ "path": "/f", "encoding": "auto", "offset": 99_500 });
        let result = bench.run("read_file", arguments).await;
        let data = result.data.unwrap();
        assert_eq!(data["encoding"], "base64");
        assert!(data["content"].as_str().unwrap().len() <= 1000);
        assert!(result.text.contains("base64"));
    }
}

#[tokio::test]
async fn half_a_unit_is_no_place_to_begin() {
    for bench in Bench::each().await {
        let arguments = json!({ "path": "/f", "content": "abc", "encoding": "utf-16le" });
        bench.ok("write_file", arguments).await;
        let arguments = json!({ "path": "/f", "encoding": "utf-16le", "offset": 1, "length": 2 });
        assert_eq!(bench.err("read_file", arguments).await.0, "invalid_argument");
    }
}
