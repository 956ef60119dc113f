//! Files as streams of bytes, in and out.

use sandkeep_engine::{Depth, Error, ErrorKind, Limits, WriteMode};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

use crate::fixture::{files, limited, noise, refusal, stored_files};

#[tokio::test]
async fn a_reader_gives_the_whole_file() {
    let files = stored_files().await;
    files.write("f", noise(700_000)).await.unwrap();
    let mut read = Vec::new();
    files.open_reader("f").await.unwrap().read_to_end(&mut read).await.unwrap();
    assert_eq!(read, noise(700_000));
}

#[tokio::test]
async fn a_reader_goes_on_with_the_file_as_it_was() {
    let files = files().await;
    files.write("f", noise(700_000)).await.unwrap();
    let mut reader = files.open_reader("f").await.unwrap();
    let mut start = vec![0; 10];
    reader.read_exact(&mut start).await.unwrap();
    files.write("f", "another").await.unwrap();
    files.remove("f", Depth::One).await.unwrap();
    reader.read_to_end(&mut start).await.unwrap();
    assert_eq!(start, noise(700_000));
}

#[tokio::test]
async fn a_reader_can_be_read_line_by_line() {
    let files = files().await;
    files.write("f", "one\ntwo\n").await.unwrap();
    let mut lines = files.open_reader("f").await.unwrap().lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "one");
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "two");
    assert!(lines.next_line().await.unwrap().is_none());
}

#[tokio::test]
async fn nothing_that_is_missing_or_a_directory_is_opened_for_reading() {
    let files = files().await;
    assert_eq!(refusal(files.open_reader("missing")).await, ErrorKind::NotFound);
    assert_eq!(refusal(files.open_reader("/")).await, ErrorKind::IsADirectory);
}

#[tokio::test]
async fn a_writer_shows_nothing_before_it_is_finished() {
    let files = stored_files().await;
    files.write("f", "old").await.unwrap();
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    writer.write_all(&noise(3_000_000)).await.unwrap();
    writer.flush().await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "old");
    let written = writer.finish().await.unwrap();
    assert_eq!((written.bytes, written.created), (3_000_000, false));
    assert_eq!(files.read("f").await.unwrap(), noise(3_000_000));
}

#[tokio::test]
async fn a_writer_that_is_dropped_leaves_everything_as_it_was() {
    let files = stored_files().await;
    files.write("f", "old").await.unwrap();
    let mut replacing = files.open_writer("f", WriteMode::Replace).unwrap();
    replacing.write_all(&noise(3_000_000)).await.unwrap();
    drop(replacing);
    let mut new = files.open_writer("new/g", WriteMode::CreateNew).unwrap();
    new.write_all(b"x").await.unwrap();
    drop(new);
    assert_eq!(files.read("f").await.unwrap(), "old");
    assert!(!files.exists("new").await.unwrap());
}

#[tokio::test]
async fn a_writer_of_nothing_makes_an_empty_file() {
    let files = files().await;
    files.open_writer("a/empty", WriteMode::Replace).unwrap().finish().await.unwrap();
    assert_eq!(files.entry("a/empty").await.unwrap().unwrap().size, 0);
}

#[tokio::test]
async fn shutting_a_writer_down_finishes_it() {
    let files = files().await;
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    writer.write_all(b"done").await.unwrap();
    writer.shutdown().await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "done");
    assert!(writer.write_all(b"more").await.is_err());
    assert_eq!(writer.finish().await.unwrap().bytes, 4);
}

#[tokio::test]
async fn a_writer_appends_to_the_end_as_it_is_when_it_finishes() {
    let files = files().await;
    files.write("f", "1").await.unwrap();
    let mut writer = files.open_writer("f", WriteMode::Append).unwrap();
    writer.write_all(b"3").await.unwrap();
    files.append("f", "2").await.unwrap();
    writer.finish().await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "123");
}

#[tokio::test]
async fn a_reader_can_be_poured_into_a_writer() {
    let files = stored_files().await;
    files.write("f", noise(2_000_000)).await.unwrap();
    let mut reader = files.open_reader("f").await.unwrap();
    let mut writer = files.open_writer("g", WriteMode::CreateNew).unwrap();
    tokio::io::copy(&mut reader, &mut writer).await.unwrap();
    writer.finish().await.unwrap();
    assert_eq!(files.read("g").await.unwrap(), noise(2_000_000));
}

#[tokio::test]
async fn a_writer_is_stopped_at_a_limit_before_everything_has_come() {
    let limits = Limits { file_size: Some(1_000_000), ..Limits::default() };
    let files = limited(limits).await;
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    let piece = noise(100_000);
    let mut taken = 0;
    let err = loop {
        match writer.write_all(&piece).await {
            Ok(()) => taken += 1,
            Err(err) => break err.downcast::<Error>().unwrap(),
        }
        assert!(taken < 20, "the limit is ten pieces");
    };
    assert_eq!(err.kind(), ErrorKind::FileTooLarge);
    assert!(writer.finish().await.is_err());
    assert!(!files.exists("f").await.unwrap());
}

#[tokio::test]
async fn a_writer_over_a_limit_fails_when_it_is_finished() {
    let files = limited(Limits { total_size: Some(10), ..Limits::default() }).await;
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    writer.write_all(b"12345678901").await.unwrap();
    let err = writer.finish().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::StorageFull);
    assert_eq!(err.path().unwrap().as_str(), "/f");
}

#[tokio::test]
async fn a_new_file_is_not_made_by_a_writer_where_one_came_meanwhile() {
    let files = files().await;
    let mut writer = files.open_writer("f", WriteMode::CreateNew).unwrap();
    writer.write_all(b"late").await.unwrap();
    files.write("f", "first").await.unwrap();
    assert_eq!(refusal(writer.finish()).await, ErrorKind::AlreadyExists);
    assert_eq!(files.read("f").await.unwrap(), "first");
}
