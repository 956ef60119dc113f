//! What the server says about itself.

use crate::http::{Server, ask};

#[tokio::test]
async fn the_description_is_the_committed_one() {
    let committed = include_str!("../../../../contract/openapi.json");
    let message = "regenerate it: cargo run -- openapi > contract/openapi.json";
    assert!(server::openapi_json() == committed, "{message}");
}

#[tokio::test]
async fn the_description_is_served() {
    let answer = Server::start().await.get("/openapi.json").await;
    answer.is_json(&server::openapi_json());
    assert!(answer.json()["openapi"].as_str().unwrap().starts_with("3.1"));
}

#[tokio::test]
async fn the_description_names_every_route() {
    let document: serde_json::Value = serde_json::from_str(&server::openapi_json()).unwrap();
    let methods = |path: &str| {
        let mut found: Vec<String> =
            document["paths"][path].as_object().unwrap().keys().cloned().collect();
        found.sort();
        found.join(" ")
    };
    assert_eq!(methods("/v1/fs/entries"), "get");
    assert_eq!(methods("/v1/fs/file"), "get head patch put");
    assert_eq!(methods("/v1/fs/entry"), "delete");
    assert_eq!(methods("/v1/fs/mkdir"), "post");
    assert_eq!(methods("/v1/fs/move"), "post");
    assert_eq!(methods("/v1/fs/copy"), "post");
    assert_eq!(methods("/v1/fs/stat"), "get");
    assert_eq!(methods("/v1/fs/upload-batch"), "post");
    assert_eq!(methods("/v1/fs/download-batch"), "get");
    assert_eq!(methods("/v1/sessions/{id}"), "post");
    assert_eq!(methods("/v2/rpc"), "delete get post");
    assert_eq!(methods("/v2/fs/file"), "get head put");
    assert_eq!(methods("/v2/fs/upload-batch"), "post");
    for path in [
        "/",
        "/v1/health",
        "/v2/health",
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/docs",
    ] {
        assert_eq!(methods(path), "get", "{path}");
    }
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    assert!(document["components"]["schemas"]["ProblemDetails"].is_object());
}

#[tokio::test]
async fn the_description_names_the_headers_of_every_answer() {
    let document: serde_json::Value = serde_json::from_str(&server::openapi_json()).unwrap();
    let problems = &document["components"]["responses"];
    assert!(problems["Problem400"]["headers"]["x-request-id"].is_object());
    assert!(problems["Problem401"]["headers"]["WWW-Authenticate"].is_object());
    assert!(problems["Problem503"]["headers"]["Retry-After"].is_object());
    let answers = &document["paths"]["/v1/fs/file"]["put"]["responses"];
    assert!(answers["200"]["headers"]["x-request-id"].is_object());
    assert!(answers["200"]["headers"]["ETag"].is_object());
    let ready = &document["paths"]["/readyz"]["get"]["responses"]["503"];
    assert!(ready["headers"]["Retry-After"].is_object());
    let metrics = &document["paths"]["/metrics"]["get"]["responses"];
    assert!(metrics["401"]["headers"]["WWW-Authenticate"].is_object());
    assert!(metrics["500"].is_object());
}

#[tokio::test]
async fn the_description_gives_a_route_only_the_problems_that_it_can_have() {
    let document: serde_json::Value = serde_json::from_str(&server::openapi_json()).unwrap();
    let has = |method: &str, path: &str, status: &str| {
        document["paths"][path][method]["responses"][status].is_object()
    };
    assert!(has("get", "/v1/fs/file", "416") && !has("head", "/v1/fs/file", "416"));
    assert!(has("delete", "/v1/fs/entry", "412") && !has("get", "/v1/fs/stat", "412"));
    assert!(has("put", "/v1/fs/file", "415") && !has("get", "/v1/fs/file", "415"));
    assert!(has("post", "/v1/fs/move", "422") && !has("post", "/v1/fs/mkdir", "422"));
    assert!(has("put", "/v1/fs/file", "507") && !has("get", "/v1/fs/entries", "507"));
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let server = Server::start().await;
    let answer = server.get("/docs").await;
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    let page = answer.text();
    assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(page.contains(&format!("<style nonce=\"{nonce}\">")));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("NONCE"));
    let again = server.get("/docs").await;
    assert_ne!(again.header("content-security-policy"), Some(policy));
}

#[tokio::test]
async fn the_server_is_alive_and_ready() {
    let server = Server::start().await;
    server.get("/healthz").await.is_json(r#"{"status":"ok"}"#);
    server.get("/readyz").await.is_json(r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn a_server_whose_directory_is_gone_is_alive_but_not_ready() {
    let server = Server::start().await;
    std::fs::remove_dir(server.host("")).unwrap();
    let answer = server.get("/readyz").await;
    answer.is_kind(503, "unavailable");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn requests_are_counted_by_route_method_and_status() {
    let server = Server::start().await;
    server.send(ask("PUT", "/v1/fs/file?path=f").body("12345")).await;
    server.get("/v1/fs/file?path=f").await;
    server.get("/v1/fs/file?path=g").await;
    server.get("/no/such").await;
    let answer = server.get("/metrics").await;
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text();
    for line in [
        r#"sandkeep_http_requests_total{method="PUT",route="/v1/fs/file",status="200"} 1"#,
        r#"sandkeep_http_requests_total{method="GET",route="/v1/fs/file",status="200"} 1"#,
        r#"sandkeep_http_requests_total{method="GET",route="/v1/fs/file",status="400"} 1"#,
        r#"sandkeep_http_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        r#"sandkeep_http_request_seconds_count{method="PUT",route="/v1/fs/file"} 1"#,
        "sandkeep_http_received_bytes_total 5",
        "# TYPE sandkeep_http_connections gauge",
        "# EOF",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\nis not in\n{text}");
    }
}

#[tokio::test]
async fn every_answer_has_an_id() {
    let server = Server::start().await;
    let first = server.get("/v1/health").await.header("x-request-id").unwrap().to_owned();
    let second = server.get("/no/such").await.header("x-request-id").unwrap().to_owned();
    assert_eq!((first.len(), second.len()), (36, 36));
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_sane_id_is_taken_over_and_another_is_not() {
    let server = Server::start().await;
    let send = |id: String| server.send(ask("GET", "/v1/health").header("x-request-id", &id));
    assert_eq!(send("abc-123".to_owned()).await.header("x-request-id"), Some("abc-123"));
    let longest = "x".repeat(128);
    assert_eq!(send(longest.clone()).await.header("x-request-id"), Some(longest.as_str()));
    for id in ["x".repeat(129), "two words".to_owned(), "\u{fc}".to_owned(), String::new()] {
        let answer = send(id.clone()).await;
        assert_eq!(answer.header("x-request-id").unwrap().len(), 36, "{id}");
    }
}
