//! What browsers are told of files that anybody may have written.

use super::{KINDS, put, serving};

#[tokio::test]
async fn a_file_is_bytes_unless_it_is_asked_for_inline() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "page.html", "<script>").await;
        let plain = server.get(&format!("{root}/fs/page.html")).await;
        assert_eq!(plain.header("content-type"), Some("application/octet-stream"), "{root}");
        assert_eq!(plain.header("content-disposition"), None);
        let shown = server.get(&format!("{root}/fs/page.html?inline=1")).await;
        assert_eq!(shown.header("content-type"), Some("text/html; charset=utf-8"), "{root}");
        assert_eq!(shown.header("content-disposition"), Some("inline"));
        for answer in [plain, shown] {
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{root}");
            let policy = answer.header("content-security-policy");
            assert_eq!(policy, Some("sandbox; default-src 'none'"), "{root}");
        }
    }
}

#[tokio::test]
async fn a_download_keeps_its_name() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "a%20%22%E4%BD%A0.txt", "x").await;
        let answer = server.get(&format!("{root}/fs/a%20%22%E4%BD%A0.txt?download=1")).await;
        let disposition = "attachment; filename*=UTF-8''a%20%22%E4%BD%A0.txt";
        assert_eq!(answer.header("content-disposition"), Some(disposition), "{root}");
    }
}

#[tokio::test]
async fn inline_and_download_contradict_each_other() {
    let server = serving().await;
    let answer = server.get(&format!("{}/fs/f?inline=1&download=1", KINDS[0])).await;
    answer.is_kind(400, "invalid_argument");
}
