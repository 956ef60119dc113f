//! Archives that Python reads and writes, which shares no code with ours.

use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use sandkeep_engine::{ArchiveFormat, FileSystem as _, Links, MetadataChange, UnixTime};

use super::{host, pack, unpack};
use crate::contents::{at, fill, read, write};
use crate::fixture::{memory, noise};

/// Runs a program in a directory; gives what it prints.
fn python(dir: &Path, program: &str) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", program]).current_dir(dir).stdin(Stdio::null());
    let output = command.output().expect("./test installs python3");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn python_reads_our_zip() {
    let files = memory().await;
    write(&files, "/ä/small", "x".repeat(5000)).await;
    write(&files, "/large", noise(300_000)).await;
    write(&files, "/text", "text".repeat(100_000)).await;
    write(&files, "/zero", "").await;
    files.symlink(&at("/ä/link"), "../large").await.unwrap();
    let modified = UnixTime { seconds: 1_000_000_000, nanoseconds: 0 };
    for name in ["/ä/small", "/large", "/text", "/zero", "/ä"] {
        let change = MetadataChange { mode: Some(0o751), modified: Some(modified) };
        files.set_metadata(&at(name), change).await.unwrap();
    }
    let place = tempfile::tempdir().unwrap();
    let archive = pack(&files, ArchiveFormat::Zip).await;
    std::fs::write(place.path().join("archive.zip"), archive).unwrap();
    let told = python(
        place.path(),
        r#"
import zipfile
archive = zipfile.ZipFile("archive.zip")
assert archive.testzip() is None
for member in archive.infolist():
    mode = member.external_attr >> 16
    print(member.filename, oct(mode), member.file_size, *member.date_time[:4], sep="|")
print(archive.read("ä/link").decode())
assert archive.read("text") == b"text" * 100_000
"#,
    );
    // Only a link has the time at which it was made.
    let told: Vec<_> = told.lines().filter(|line| !line.starts_with("ä/link")).collect();
    assert_eq!(
        told,
        [
            "large|0o100751|300000|2001|9|9|1",
            "text|0o100751|400000|2001|9|9|1",
            "zero|0o100751|0|2001|9|9|1",
            "ä/|0o40751|0|2001|9|9|1",
            "ä/small|0o100751|5000|2001|9|9|1",
            "../large",
        ]
    );
}

/// More members than the usual end record can count.
#[tokio::test]
async fn python_reads_our_zip_of_66_000_members_and_so_do_we() {
    let files = memory().await;
    fill(&files, 66_000, |number| format!("/{}/{number}", number / 1000)).await;
    let archive = pack(&files, ArchiveFormat::Zip).await;
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("archive.zip"), &archive).unwrap();
    let told = python(
        place.path(),
        r#"
import zipfile
archive = zipfile.ZipFile("archive.zip")
print(len(archive.infolist()), archive.read("65/65999").decode())
"#,
    );
    assert_eq!(told, "66066 file 65999\n");
    let copy = memory().await;
    assert_eq!(unpack(&copy, ArchiveFormat::Zip, archive).await.unwrap().entries, 66_066);
    assert_eq!(copy.usage().await.unwrap(), files.usage().await.unwrap());
}

#[tokio::test]
async fn python_reads_our_tar_gz() {
    let files = memory().await;
    write(&files, "/ä/small", "text").await;
    write(&files, "/large", "text".repeat(100_000)).await;
    let place = tempfile::tempdir().unwrap();
    let archive = pack(&files, ArchiveFormat::TarGz).await;
    std::fs::write(place.path().join("archive.tar.gz"), archive).unwrap();
    let told = python(
        place.path(),
        r#"
import tarfile
archive = tarfile.open("archive.tar.gz", "r:gz")
assert archive.extractfile("large").read() == b"text" * 100_000
print(*archive.getnames(), sep="|")
"#,
    );
    assert_eq!(told, "large|ä|ä/small\n");
}

/// What Python writes, as it comes from a file and from a pipe, is what we read.
#[tokio::test]
async fn we_read_the_zip_that_python_writes() {
    let place = tempfile::tempdir().unwrap();
    python(
        place.path(),
        r#"
import sys, zipfile

class Pipe:
    def __init__(self, file): self.file = file
    def write(self, piece): return self.file.write(piece)
    def flush(self): self.file.flush()

def fill(archive, stored):
    archive.comment = b"a comment"
    archive.writestr("text", "text" * 100_000)
    archive.writestr("ä/😀", "deep")
    archive.writestr("empty", "")
    if stored:
        archive.writestr("stored", "as it is", zipfile.ZIP_STORED)
    with archive.open("streamed", "w", force_zip64=True) as member:
        member.write(b"streamed" * 10_000)
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    link.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(link, "ä/😀")
    script = zipfile.ZipInfo("script")
    script.create_system, script.external_attr = 3, 0o100755 << 16
    script.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(script, "exit 0")

with zipfile.ZipFile("file.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    fill(archive, True)
with open("pipe.zip", "wb") as file:
    with zipfile.ZipFile(Pipe(file), "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive, False)
"#,
    );
    for name in ["file.zip", "pipe.zip"] {
        let files = memory().await;
        let archive = Bytes::from(std::fs::read(place.path().join(name)).unwrap());
        unpack(&files, ArchiveFormat::Zip, archive).await.unwrap();
        assert_eq!(read(&files, &at("/text")).await, "text".repeat(100_000), "{name}");
        assert_eq!(read(&files, &at("/streamed")).await, "streamed".repeat(10_000), "{name}");
        assert_eq!(files.read_link(&at("/link")).await.unwrap(), "ä/😀", "{name}");
        assert_eq!(read(&files, &at("/link")).await, "deep", "{name}");
        let script = files.stat(&at("/script"), Links::Keep).await.unwrap();
        assert_eq!(script.mode, Some(0o755), "{name}");
    }
}

#[tokio::test]
async fn we_read_the_tar_gz_that_python_writes() {
    let place = tempfile::tempdir().unwrap();
    python(
        place.path(),
        r#"
import io, tarfile
with tarfile.open("archive.tar.gz", "w:gz") as archive:
    member = tarfile.TarInfo("dir/file")
    member.size = 400_000
    archive.addfile(member, io.BytesIO(b"text" * 100_000))
"#,
    );
    let copy = tempfile::tempdir().unwrap();
    let files = host(copy.path());
    let archive = Bytes::from(std::fs::read(place.path().join("archive.tar.gz")).unwrap());
    unpack(&files, ArchiveFormat::TarGz, archive).await.unwrap();
    assert_eq!(read(&files, &at("/dir/file")).await, "text".repeat(100_000));
}
