//! Counters: who sets one on has read the number before, and nobody else has set it since.

use engine::{
    FileSystem as _, If, Parents, Result, Span, Version, VirtualFs, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use rand::RngExt as _;

use super::Client;
use crate::history::{Act, Outcome, mark};
use crate::outfit::{at, counter, outfit};

/// How often one tries to be faster than others.
const TRIES: u32 = 4;

impl Client {
    pub(super) async fn count(&mut self, sandbox: u32, files: &VirtualFs) -> Result<()> {
        let number = self.dice.random_range(0..outfit(sandbox).counters);
        for _ in 0..TRIES {
            files.refresh().await?;
            let (count, version) = read(files, number).await?;
            let to = count + 1;
            let text = format!("{to} {}", mark(self.id, self.next()));
            let path = at(&counter(number));
            let options = WriteOptions {
                mode: WriteMode::Replace,
                parents: Parents::Require,
                expected: If::Matches(vec![version]),
                length: None,
            };
            let write = files.write(&path, stream::iter([Ok(text.into())]).boxed(), options);
            match self.act(sandbox, Act::Count { counter: number, to }, write).await {
                Outcome::Refused(..) => {}
                Outcome::Done | Outcome::InDoubt(..) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// What a counter says, and in which version it says so.
async fn read(files: &VirtualFs, number: u32) -> Result<(u64, Version)> {
    let content = files.read(&at(&counter(number)), Span::Whole).await?;
    let version = content.entry.version.clone().unwrap();
    let pieces: Vec<_> = content.body.try_collect().await?;
    let text = String::from_utf8(pieces.concat()).unwrap();
    Ok((text.split_once(' ').unwrap().0.parse().unwrap(), version))
}
