# What users of /v2 send by curl once a connection and a session are there. One block an operation.

# list
curl -s -X POST "$BASE_URL/v2/rpc" -H "Authorization: Bearer $SANDBOX_TOKEN" \
    -H "Content-Type: application/json" -H "x-acp-connection-id: acp_conn_1" \
    --data '{"id":"list","jsonrpc":"2.0","method":"_sandboxagent/fs/list_entries","params":{"sessionId":"my-session","path":"./workspace"}}'

# bytes
printf hello | curl -s -X PUT "$BASE_URL/v2/fs/file?sessionId=my-session&path=./notes.txt" \
    -H "Authorization: Bearer $SANDBOX_TOKEN" --data-binary @-
curl -s "$BASE_URL/v2/fs/file?sessionId=my-session&path=./notes.txt" \
    -H "Authorization: Bearer $SANDBOX_TOKEN" -o ./notes.txt

# mkdir
curl -s -X POST "$BASE_URL/v2/rpc" -H "Authorization: Bearer $SANDBOX_TOKEN" \
    -H "Content-Type: application/json" -H "x-acp-connection-id: acp_conn_1" \
    --data '{"id":"mkdir","jsonrpc":"2.0","method":"_sandboxagent/fs/mkdir","params":{"sessionId":"my-session","path":"./data"}}'

# move
curl -s -X POST "$BASE_URL/v2/rpc" -H "Authorization: Bearer $SANDBOX_TOKEN" \
    -H "Content-Type: application/json" -H "x-acp-connection-id: acp_conn_1" \
    --data '{"id":"move","jsonrpc":"2.0","method":"_sandboxagent/fs/move","params":{"sessionId":"my-session","overwrite":true,"to":"./notes-old.txt","from":"./notes.txt"}}'
echo
curl -s -X POST "$BASE_URL/v2/rpc" -H "Authorization: Bearer $SANDBOX_TOKEN" \
    -H "Content-Type: application/json" -H "x-acp-connection-id: acp_conn_1" \
    --data '{"id":"stat","jsonrpc":"2.0","method":"_sandboxagent/fs/stat","params":{"sessionId":"my-session","path":"./notes-old.txt"}}'
echo
curl -s -X POST "$BASE_URL/v2/rpc" -H "Authorization: Bearer $SANDBOX_TOKEN" \
    -H "Content-Type: application/json" -H "x-acp-connection-id: acp_conn_1" \
    --data '{"id":"delete","jsonrpc":"2.0","method":"_sandboxagent/fs/delete_entry","params":{"sessionId":"my-session","path":"./notes-old.txt"}}'

# tar
tar -c -f skills.tar -C ./skills .
curl -s -X POST "$BASE_URL/v2/fs/upload-batch?sessionId=my-session&path=./skills" \
    -H "Authorization: Bearer $SANDBOX_TOKEN" -H "Content-Type: application/x-tar" \
    --data-binary @skills.tar
