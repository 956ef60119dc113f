//! Some events of one log, as a store keeps them.

use std::sync::Arc;

use bytes::Bytes;

use crate::tree::{Damaged, Input, put_check, put_number, put_text, put_time};
use crate::{Actor, DotDot, ErrorKind, MAX_PATH, SandboxId, SandboxPath, UnixTime, Version};

use super::event::{AuditEvent, Outcome};

const FORMAT: u8 = 1;
/// When a batch is full. No backend keeps a ref of more than 384 KiB, and a log is read by batches.
const MOST_EVENTS: u64 = 256;
const MOST_BYTES: usize = 32 << 10;
/// How long the words of an event are; what is longer is cut.
const LONGEST_OPERATION: usize = 64;
const LONGEST_REASON: usize = 256;
const LONGEST_VERSION: usize = 256;
const LONGEST_REQUEST: usize = 128;
const LONGEST_SUBJECT: usize = 256;
/// A byte that is not UTF-8 is spelled with four.
const LONGEST_PATH: usize = 4 * MAX_PATH;
const LONGEST_WORD: usize = 64;
const LATER: Damaged = Damaged("it was written by a later version");

/// Events that are being gathered.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) count: u64,
    body: Vec<u8>,
}

/// What tells a batch from all others: who wrote it, how many he wrote before it, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) writer: u128,
    pub(super) number: u64,
    pub(super) written: UnixTime,
}

impl Draft {
    pub(super) fn add(&mut self, event: &AuditEvent) {
        self.count += 1;
        put_event(&mut self.body, event);
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= MOST_EVENTS || self.body.len() >= MOST_BYTES
    }

    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    pub(super) fn seal(&self, head: Head) -> Bytes {
        let mut out = vec![FORMAT];
        out.extend_from_slice(&head.writer.to_le_bytes());
        put_number(&mut out, head.number);
        put_time(&mut out, head.written);
        put_number(&mut out, self.count);
        out.extend_from_slice(&self.body);
        put_check(&mut out);
        out.into()
    }
}

/// What a batch holds.
pub(super) fn decode(bytes: &Bytes) -> Result<(Head, Vec<AuditEvent>), Damaged> {
    let (head, mut input) = open(bytes)?;
    let count = input.number()?;
    if count > MOST_EVENTS {
        return Err(Damaged("it has too many events"));
    }
    let events = (0..count).map(|_| event(&mut input)).collect::<Result<_, _>>()?;
    input.ends()?;
    Ok((head, events))
}

/// Who wrote a batch, and when.
pub(super) fn head(bytes: &Bytes) -> Result<Head, Damaged> {
    open(bytes).map(|(head, _)| head)
}

fn open(bytes: &Bytes) -> Result<(Head, Input), Damaged> {
    let mut input = Input::record(bytes, FORMAT)?;
    let writer = u128::from_le_bytes(input.array()?);
    Ok((Head { writer, number: input.number()?, written: input.time()? }, input))
}

fn put_event(out: &mut Vec<u8>, event: &AuditEvent) {
    let AuditEvent { time, by, sandbox, operation, path, from, outcome, .. } = event;
    let AuditEvent { bytes, version, request, subject, count, .. } = event;
    put_time(out, *time);
    put_present(out, by.as_ref(), |out, by| by.put(out));
    // Neither an id nor a path is empty.
    put_text(out, sandbox.as_ref().map_or("", SandboxId::as_str));
    put_text(out, cut(operation, LONGEST_OPERATION));
    put_text(out, path.as_ref().map_or("", SandboxPath::as_str));
    put_text(out, from.as_ref().map_or("", SandboxPath::as_str));
    put_outcome(out, outcome);
    put_present(out, bytes.as_ref(), |out, bytes| put_number(out, *bytes));
    put_text(out, cut(version.as_ref().map_or("", Version::as_str), LONGEST_VERSION));
    put_text(out, cut(request.as_deref().unwrap_or_default(), LONGEST_REQUEST));
    put_text(out, cut(subject.as_deref().unwrap_or_default(), LONGEST_SUBJECT));
    put_present(out, count.as_ref(), |out, count| put_number(out, *count));
}

fn event(input: &mut Input) -> Result<AuditEvent, Damaged> {
    Ok(AuditEvent {
        time: input.time()?,
        by: present(input, Actor::read)?,
        sandbox: sandbox(input)?,
        operation: input.text(LONGEST_OPERATION as u64)?.to_string().into(),
        path: path(input)?,
        from: path(input)?,
        outcome: outcome(input)?,
        bytes: present(input, Input::number)?,
        version: text(input, LONGEST_VERSION)?.map(Version::new),
        request: text(input, LONGEST_REQUEST)?,
        subject: text(input, LONGEST_SUBJECT)?,
        count: present(input, Input::number)?,
    })
}

fn put_outcome(out: &mut Vec<u8>, outcome: &Outcome) {
    match outcome {
        Outcome::Done => out.push(0),
        Outcome::Failed(kind) => {
            out.push(1);
            put_text(out, kind.word());
        }
        Outcome::Refused(reason) => {
            out.push(2);
            put_text(out, cut(reason, LONGEST_REASON));
        }
        Outcome::Abandoned => out.push(3),
        Outcome::Lost(count) => {
            out.push(4);
            put_number(out, *count);
        }
    }
}

fn outcome(input: &mut Input) -> Result<Outcome, Damaged> {
    Ok(match input.byte()? {
        0 => Outcome::Done,
        1 => {
            let word = input.text(LONGEST_WORD as u64)?;
            Outcome::Failed(ErrorKind::from_word(&word).ok_or(LATER)?)
        }
        2 => Outcome::Refused(input.text(LONGEST_REASON as u64)?.to_string().into()),
        3 => Outcome::Abandoned,
        4 => Outcome::Lost(input.number()?),
        _ => return Err(LATER),
    })
}

fn put_present<T>(out: &mut Vec<u8>, value: Option<&T>, put: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn present<T>(
    input: &mut Input,
    read: impl FnOnce(&mut Input) -> Result<T, Damaged>,
) -> Result<Option<T>, Damaged> {
    match input.byte()? {
        0 => Ok(None),
        1 => read(input).map(Some),
        _ => Err(LATER),
    }
}

fn text(input: &mut Input, longest: usize) -> Result<Option<Arc<str>>, Damaged> {
    Ok(Some(input.text(longest as u64)?).filter(|text| !text.is_empty()))
}

fn sandbox(input: &mut Input) -> Result<Option<SandboxId>, Damaged> {
    let id = text(input, 63)?.map(|text| SandboxId::parse(&text));
    id.transpose().map_err(|_| Damaged("a sandbox id cannot be"))
}

/// A path in its one spelling.
fn path(input: &mut Input) -> Result<Option<SandboxPath>, Damaged> {
    let Some(text) = text(input, LONGEST_PATH)? else { return Ok(None) };
    let path = SandboxPath::parse(&text, DotDot::Refuse).ok();
    let path = path.filter(|path| path.as_str() == &*text);
    path.map(Some).ok_or(Damaged("a path cannot be"))
}

/// The first bytes of a text, and no part of a letter.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;
    use crate::tree::tests::golden::bytes;

    fn at(seconds: i64) -> UnixTime {
        UnixTime { seconds, nanoseconds: 0 }
    }

    fn moved() -> AuditEvent {
        let path = |text| Some(SandboxPath::parse(text, DotDot::Refuse).unwrap());
        AuditEvent {
            time: at(3),
            by: Some(Actor::Key(KeyId::parse("abcdefghij01").unwrap())),
            sandbox: Some(SandboxId::parse("demo").unwrap()),
            operation: "rename".into(),
            path: path("/b"),
            from: path("/a"),
            outcome: Outcome::Done,
            bytes: Some(300),
            version: Some(Version::new("v1")),
            request: Some("r-7".into()),
            subject: Some("s-1".into()),
            count: Some(2),
        }
    }

    fn others() -> [AuditEvent; 4] {
        let outcomes = [
            Outcome::Failed(ErrorKind::Io),
            Outcome::Refused("no".into()),
            Outcome::Abandoned,
            Outcome::Lost(5),
        ];
        outcomes.map(|outcome| AuditEvent { time: at(4), ..AuditEvent::new("x", outcome) })
    }

    fn head() -> Head {
        Head { writer: 0x0102, number: 9, written: at(5) }
    }

    fn sealed(events: &[AuditEvent]) -> Bytes {
        let mut draft = Draft::default();
        events.iter().for_each(|event| draft.add(event));
        draft.seal(head())
    }

    fn golden() -> Vec<AuditEvent> {
        [&[moved()][..], &others()].concat()
    }

    fn golden_bytes() -> Bytes {
        let text = [
            "01  02 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00  09  0a 00  05 ",
            "06 00  01 01 61 62 63 64 65 66 67 68 69 6a 30 31  04 64 65 6d 6f ",
            "06 72 65 6e 61 6d 65  02 2f 62  02 2f 61  00  01 ac 02  02 76 31  03 72 2d 37 ",
            "03 73 2d 31  01 02 ",
            "08 00  00  00  01 78  00  00  01 02 69 6f  00  00  00  00  00 ",
            "08 00  00  00  01 78  00  00  02 02 6e 6f  00  00  00  00  00 ",
            "08 00  00  00  01 78  00  00  03  00  00  00  00  00 ",
            "08 00  00  00  01 78  00  00  04 05  00  00  00  00  00 ",
            "00 3f e3 e8 19 23 66 85 9b 20 72 79 12 e3 23 06",
        ];
        bytes(&text.concat())
    }

    #[test]
    fn a_batch_has_these_bytes() {
        assert_eq!(sealed(&golden()), golden_bytes());
        assert_eq!(decode(&golden_bytes()).unwrap(), (head(), golden()));
        assert_eq!(super::head(&golden_bytes()).unwrap(), head());
    }

    #[test]
    fn a_batch_with_any_one_byte_changed_or_missing_is_refused() {
        let golden = golden_bytes();
        for at in 0..golden.len() {
            assert!(decode(&golden.slice(..at)).is_err(), "the first {at} bytes");
            let mut changed = golden.to_vec();
            changed[at] ^= 1;
            assert!(decode(&changed.into()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_batch_that_was_changed_on_purpose_is_refused_or_understood() {
        let golden = golden_bytes();
        let content = &golden[..golden.len() - 16];
        for at in 0..content.len() {
            for change in 1..=255 {
                let mut changed = content.to_vec();
                changed[at] ^= change;
                put_check(&mut changed);
                if let Ok((head, events)) = decode(&changed.clone().into()) {
                    let mut draft = Draft::default();
                    events.iter().for_each(|event| draft.add(event));
                    assert_eq!(draft.seal(head), changed, "byte {at}");
                }
            }
        }
    }

    #[test]
    fn words_that_are_too_long_are_cut_between_letters() {
        let long = "é".repeat(1000);
        let event = AuditEvent {
            request: Some(long.as_str().into()),
            ..AuditEvent::new(format!("x{long}"), Outcome::Refused(format!("x{long}").into()))
        };
        let (_, events) = decode(&sealed(&[event])).unwrap();
        assert_eq!(events[0].operation.len(), LONGEST_OPERATION - 1);
        assert_eq!(events[0].outcome, Outcome::Refused(format!("x{}", "é".repeat(127)).into()));
        assert_eq!(events[0].request.as_ref().unwrap().len(), LONGEST_REQUEST);
    }

    #[test]
    fn a_batch_is_full_before_a_backend_refuses_it() {
        let deep = format!("/{}", "d/".repeat(2000));
        let path = Some(SandboxPath::parse(&deep, DotDot::Refuse).unwrap());
        let event = AuditEvent { path: path.clone(), from: path, ..moved() };
        let mut draft = Draft::default();
        while !draft.is_full() {
            draft.add(&event);
        }
        assert!(draft.seal(head()).len() < 64 << 10);
        let mut draft = Draft::default();
        while !draft.is_full() {
            draft.add(&moved());
        }
        assert_eq!(decode(&draft.seal(head())).unwrap().1.len(), 256);
    }
}
