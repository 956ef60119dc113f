//! nginx as somebody sets it up who wants it to be fast.

use std::path::Path;

use super::reading::RANGED;

/// One worker, as all servers have one processor. Nothing is logged, files go out by `sendfile`, and
/// what is uploaded is renamed into place on the same file system. `tcp_nopush` makes small answers
/// faster, but holds the end of a range back until the client has acknowledged what came before, which
/// takes 40 ms; so it is off for the file of which parts are read.
pub(super) fn configuration(home: &Path, root: &Path, port: u16) -> String {
    let (home, root) = (home.display(), root.display());
    format!(
        "daemon off;
user root;
worker_processes 1;
worker_rlimit_nofile 8192;
pid {home}/nginx.pid;
error_log {home}/error.log crit;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    default_type application/octet-stream;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {root};
        autoindex on;
        autoindex_format json;
        dav_methods PUT DELETE MKCOL COPY MOVE;
        create_full_put_path on;
        location = /{RANGED} {{ tcp_nopush off; }}
    }}
}}
"
    )
}
