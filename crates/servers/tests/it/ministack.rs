//! ministack keeps tables, and means the conditions of its writes.

use sandkeep_servers::{Kind, Server};

use crate::life;
use crate::wire::Request;

const TABLE: &str = r#"{"TableName": "greetings", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}"#;
const PUT: &str = r#"{"TableName": "greetings", "Item": {"id": {"S": "a"}, "words": {"S": "hello"}},
    "ConditionExpression": "attribute_not_exists(id)"}"#;
const GET: &str = r#"{"TableName": "greetings", "Key": {"id": {"S": "a"}}}"#;

#[test]
fn ministack_keeps_what_it_was_told_when_it_ends_in_order() {
    let mut server = Server::start(Kind::Ministack);
    assert_eq!(Request::send_to_dynamodb(&server, "CreateTable", TABLE).0, 200);
    assert_eq!(Request::send_to_dynamodb(&server, "PutItem", PUT).0, 200);
    assert_eq!(Request::send_to_dynamodb(&server, "PutItem", PUT).0, 400);
    server.restart_politely();
    let (status, item) = Request::send_to_dynamodb(&server, "GetItem", GET);
    assert_eq!(status, 200);
    assert!(item.contains("hello"), "{item}");
    life::assert_leaves_nothing(server);
}
