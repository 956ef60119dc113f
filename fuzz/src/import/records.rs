//! What records add up to: a tree of names and lengths, grown as docs/decisions/0005 says.

use std::collections::BTreeMap;
use std::rc::Rc;

/// Names in the root, bytes, files, directories, links, depth, and the longest file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums(pub(super) [u64; 7]);

/// Something with a name. What lies beneath it may lie elsewhere too.
#[derive(Debug)]
enum Node {
    File(u64),
    Link,
    Directory(Names, Sums),
}

type Names = BTreeMap<Vec<u8>, Rc<Node>>;

/// One record, without what adds up to nothing.
enum Record<'a> {
    Root,
    Directory(&'a [u8]),
    Changed(&'a [u8]),
    Leave,
    File(&'a [u8], u64),
    Link(&'a [u8]),
    Like(&'a [u8], u64),
    Kept(&'a [u8], &'a [u8]),
    Removed(&'a [u8]),
    Piece,
}

/// What a tree of these records adds up to, as far as they can be understood.
pub(super) fn sums_of(records: &[u8], base: Option<&[u8]>) -> Sums {
    let base = base.map(|records| grown(records, None)).unwrap_or_default();
    Sums::of(&grown(records, Some(base)))
}

/// Where the records end one after the other.
pub(super) fn ends(records: &[u8]) -> Vec<usize> {
    let mut input = Input(records);
    let ends = std::iter::from_fn(|| {
        input.record()?;
        Some(records.len() - input.0.len())
    });
    ends.collect()
}

fn grown(records: &[u8], base: Option<Names>) -> Names {
    let mut growth = Growth { base: base.unwrap_or_default(), ..Growth::default() };
    let mut input = Input(records);
    while let Some(record) = input.record() {
        if growth.take(&record).is_none() {
            break;
        }
    }
    while growth.root.is_none() && !growth.levels.is_empty() {
        growth.leave();
    }
    growth.root.unwrap_or_default()
}

#[derive(Default)]
struct Growth {
    base: Names,
    levels: Vec<(Vec<u8>, Names)>,
    ended: Vec<Rc<Node>>,
    root: Option<Names>,
}

impl Growth {
    fn take(&mut self, record: &Record<'_>) -> Option<()> {
        match *record {
            Record::Root => self.levels.push((Vec::new(), self.base.clone())),
            Record::Directory(name) => self.levels.push((name.to_vec(), Names::new())),
            Record::Changed(name) => {
                let Node::Directory(names, _) = &**self.levels.last()?.1.get(name)? else {
                    return None;
                };
                let names = names.clone();
                self.levels.push((name.to_vec(), names));
            }
            Record::Leave => self.leave(),
            Record::File(name, len) => self.put(name, Rc::new(Node::File(len)))?,
            Record::Link(name) => self.put(name, Rc::new(Node::Link))?,
            Record::Like(name, distance) => {
                let place = self.ended.len().checked_sub(usize::try_from(distance).ok()?)?;
                let like = Rc::clone(self.ended.get(place)?);
                self.put(name, like)?;
            }
            Record::Kept(name, path) => {
                let kept = self.find(path)?;
                self.put(name, kept)?;
            }
            Record::Removed(name) => drop(self.levels.last_mut()?.1.remove(name)?),
            Record::Piece => {}
        }
        Some(())
    }

    fn put(&mut self, name: &[u8], node: Rc<Node>) -> Option<()> {
        self.levels.last_mut()?.1.insert(name.to_vec(), node);
        Some(())
    }

    fn leave(&mut self) {
        let Some((name, names)) = self.levels.pop() else { return };
        if self.levels.is_empty() {
            self.root = Some(names);
            return;
        }
        let sums = Sums::of(&names);
        let node = Rc::new(Node::Directory(names, sums));
        self.ended.push(Rc::clone(&node));
        self.put(&name, node);
    }

    fn find(&self, path: &[u8]) -> Option<Rc<Node>> {
        let (mut names, mut found) = (Some(&self.base), None);
        for name in path.split(|byte| *byte == b'/') {
            let node = names?.get(name)?;
            names = if let Node::Directory(names, _) = &**node { Some(names) } else { None };
            found = Some(Rc::clone(node));
        }
        found
    }
}

impl Sums {
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.into_iter().flat_map(u64::to_le_bytes)
    }

    fn of(names: &Names) -> Self {
        let mut all = Self([names.len() as u64, 0, 0, 0, 0, 0, 0]);
        for node in names.values() {
            let [_, bytes, files, directories, links, depth, largest] = match &**node {
                Node::File(len) => [0, *len, 1, 0, 0, 0, *len],
                Node::Link => [0, 0, 0, 0, 1, 0, 0],
                Node::Directory(_, Self(beneath)) => {
                    let mut with = *beneath;
                    with[3] = with[3].saturating_add(1);
                    with
                }
            };
            for (sum, more) in all.0[1..5].iter_mut().zip([bytes, files, directories, links]) {
                *sum = sum.saturating_add(more);
            }
            all.0[5] = all.0[5].max(depth.saturating_add(1));
            all.0[6] = all.0[6].max(largest);
        }
        all
    }
}

/// Records that are read from the front; what cannot be read ends them.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn record(&mut self) -> Option<Record<'a>> {
        let kind = self.byte()?;
        Some(match kind {
            1 => {
                self.about()?;
                Record::Root
            }
            2 => Record::Directory(self.entry()?),
            3 => Record::Changed(self.entry()?),
            4 => Record::Leave,
            5 | 6 => Record::File(self.entry()?, self.number()?),
            7 => {
                let name = self.entry()?;
                self.text()?;
                Record::Link(name)
            }
            8 => Record::Like(self.entry()?, self.number()?),
            9 => Record::Kept(self.entry()?, self.text()?),
            10 => Record::Removed(self.text()?),
            16..=18 => {
                self.number()?;
                Record::Piece
            }
            19 => {
                self.number()?;
                self.number()?;
                Record::Piece
            }
            _ => return None,
        })
    }

    fn entry(&mut self) -> Option<&'a [u8]> {
        let name = self.text()?;
        self.about()?;
        Some(name)
    }

    /// A mode and two times.
    fn about(&mut self) -> Option<()> {
        (0..5).try_for_each(|_| self.number().map(drop))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        self.0.split_off(..len)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }
}
