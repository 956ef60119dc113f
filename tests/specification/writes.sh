# The two ways in which users write by curl: a file as it is, and a text.
curl -s -X PUT "$BASE_URL/v1/sandboxes/$SBX_ID/fs/src/main.py" \
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/octet-stream" \
    --data-binary @./main.py
curl -s -X PUT "$BASE_URL/v1/sandboxes/$SBX_ID/fs/hello.txt" \
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/octet-stream" \
    -d "Hello, Sandbox!"
