//! The walk from link to link.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use storage::{ObjectId, frame};

use crate::Result;
use crate::tree::{DEEPEST, Link, ObjectKind, decode_extents, decode_page};

use super::super::meaning::meaning;
use super::super::objects::{Family, ObjectCache};
use super::super::root::Root;
use super::claim::{About, Claim, Findings, Place};
use super::trees::Owner;
use super::{MOST, Verified};

/// How many links are followed at a time.
const AT_ONCE: usize = 64;

/// A check of one tree after the other. What they share is looked at once, as long as they say the
/// same about it. 20 to 40 bytes of memory for each page, and 65 to 135 for each chunk.
pub(super) struct Check<'a> {
    cache: &'a ObjectCache,
    seen: HashSet<[u8; 16]>,
    /// How long chunks are.
    chunks: HashMap<ObjectId, u64>,
    pub(super) verified: Verified,
    watch: &'a (dyn Fn(&Verified) + Sync),
}

impl<'a> Check<'a> {
    /// A check that goes on from what was found before.
    pub(super) fn new(
        cache: &'a ObjectCache,
        verified: Verified,
        watch: &'a (dyn Fn(&Verified) + Sync),
    ) -> Self {
        let (seen, chunks) = (HashSet::new(), HashMap::new());
        Self { cache, seen, chunks, verified, watch }
    }

    /// Checks everything that a root leads to.
    pub(super) async fn run(&mut self, root: &Root, owner: &Owner) -> Result<()> {
        let (mut findings, place) = (Findings::default(), Place::root());
        if let Some(dir) = root.tree.directory() {
            findings.directory(&place, dir);
            if dir.sum.depth > DEEPEST {
                findings.problems.push((place, "the tree is too deep"));
            }
        }
        while self.verified.problems.len() < MOST {
            let Findings { claims, problems } = &mut findings;
            for (place, message) in problems.drain(..) {
                self.verified.problems.push(owner.problem(place.path(), message));
            }
            (self.watch)(&self.verified);
            let mut step = claims.split_off(claims.len().saturating_sub(AT_ONCE));
            if step.is_empty() {
                break;
            }
            step.retain(|claim| self.is_new(claim));
            self.follow(&root.family, step, &mut findings).await?;
            // A storage in memory never makes anybody wait.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn is_new(&mut self, claim: &Claim) -> bool {
        let hash = blake3::hash(&claim.about.bytes());
        hash.as_bytes().first_chunk().is_some_and(|start| self.seen.insert(*start))
    }

    /// Looks at what some links lead to.
    async fn follow(
        &mut self,
        family: &Family,
        claims: Vec<Claim>,
        findings: &mut Findings,
    ) -> Result<()> {
        let wanted: Vec<_> = claims.iter().filter_map(|claim| self.stored(claim)).collect();
        let keys: Vec<_> = wanted.iter().map(|id| family.key(*id)).collect();
        let stored = self.cache.storage().get_many(&keys).await.map_err(meaning)?;
        let stored: HashMap<_, _> = wanted.into_iter().zip(stored).collect();
        for Claim { place, about } in claims {
            if let Err(problem) = self.look(family, &place, &about, &stored, findings) {
                findings.problems.push((place, problem));
            }
        }
        Ok(())
    }

    /// The object that must be fetched for a claim.
    fn stored(&self, claim: &Claim) -> Option<ObjectId> {
        match &claim.about {
            About::Page { link: Link::Stored(id), .. }
            | About::Extents { link: Link::Stored(id), .. } => Some(*id),
            About::Chunk { id, .. } => (!self.chunks.contains_key(id)).then_some(*id),
            About::Page { .. } | About::Extents { .. } => None,
        }
    }

    fn look(
        &mut self,
        family: &Family,
        place: &Arc<Place>,
        about: &About,
        stored: &HashMap<ObjectId, Option<Bytes>>,
        findings: &mut Findings,
    ) -> Result<(), &'static str> {
        let mut open = |kind, id: &ObjectId| -> Result<Bytes, &'static str> {
            let plain = opened(family, kind, id, stored.get(id).and_then(Option::as_ref))?;
            self.verified.objects += 1;
            self.verified.bytes += plain.len() as u64;
            Ok(plain)
        };
        match about {
            About::Page { link, span, sum } => {
                let page = match link {
                    Link::Fresh(page) => Arc::clone(page),
                    Link::Stored(id) => {
                        Arc::new(decode_page(&open(ObjectKind::Page, id)?).map_err(|err| err.0)?)
                    }
                };
                findings.page(place, &page, (span, sum), &family.heights);
            }
            About::Extents { link, above, len } => {
                let page = match link {
                    Link::Fresh(page) => Arc::clone(page),
                    Link::Stored(id) => {
                        let plain = open(ObjectKind::Extents, id)?;
                        Arc::new(decode_extents(&plain).map_err(|err| err.0)?)
                    }
                };
                findings.extents(place, &page, (*above, *len));
            }
            About::Chunk { id, len } => {
                let known = match self.chunks.get(id) {
                    Some(known) => *known,
                    None => {
                        let known = open(ObjectKind::Chunk, id)?.len() as u64;
                        *self.chunks.entry(*id).or_insert(known)
                    }
                };
                if known < *len {
                    return Err("a piece of a file is too short");
                }
            }
        }
        Ok(())
    }
}

/// The content of an object, if it is what its id says.
fn opened(
    family: &Family,
    kind: ObjectKind,
    id: &ObjectId,
    stored: Option<&Bytes>,
) -> Result<Bytes, &'static str> {
    let stored = stored.ok_or(match kind {
        ObjectKind::Page => "a page of a directory is missing",
        ObjectKind::Extents => "a page of pieces is missing",
        ObjectKind::Chunk => "a piece of a file is missing",
    })?;
    match frame::open(stored) {
        Ok(plain) if family.ids.id(kind, &plain) == *id => Ok(plain),
        Ok(_) | Err(_) => Err(match kind {
            ObjectKind::Page => "a page of a directory is not what it was",
            ObjectKind::Extents => "a page of pieces is not what it was",
            ObjectKind::Chunk => "a piece of a file is not what it was",
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::tree::{Body, Child, Directory, Extent, File, Item, Node, Page, Stamp, Sum, Top};
    use crate::{Limits, SandboxId, UnixTime};

    const NOW: UnixTime = UnixTime { seconds: 0, nanoseconds: 0 };

    fn item(name: &str, body: Body) -> Arc<Item> {
        let node = Node { mode: 0o644, created: NOW, modified: NOW, stamp: Stamp::default(), body };
        Arc::new(Item { name: name.into(), node })
    }

    fn file(name: &str) -> Arc<Item> {
        item(name, Body::File(File::Inline(Bytes::from_static(b"1"))))
    }

    /// Some names of a height, in order.
    fn names(family: &Family, height: u8) -> Vec<String> {
        let all = (0..).map(|number| format!("{number:05}"));
        all.filter(|name| family.heights.height(name) == height).take(8).collect()
    }

    fn leaf(items: Vec<Arc<Item>>) -> Page {
        Page::Leaf(items.into())
    }

    fn top(page: Page) -> Directory {
        Directory { sum: page.sum(), top: Some(Link::Fresh(Arc::new(page))) }
    }

    /// What is wrong with a tree in memory.
    async fn problems(family: Family, dir: Directory) -> Vec<String> {
        let cache = ObjectCache::new(Arc::new(storage::MemoryStorage::default()), 0);
        let mut root = Root::new(family, Limits::default(), NOW);
        root.tree.body = Body::Directory(Box::new(dir));
        let mut check = Check::new(&cache, Verified::default(), &|_| ());
        let owner = Owner { sandbox: SandboxId::parse("s").unwrap(), snapshot: None };
        check.run(&root, &owner).await.unwrap();
        check.verified.problems.into_iter().map(|problem| problem.message).collect()
    }

    #[tokio::test]
    async fn a_forged_sum_is_found() {
        let mut dir = top(leaf(vec![file("a")]));
        dir.sum = Sum { bytes: 1 << 40, ..dir.sum };
        let expected = ["a page does not add up to what is said of it"];
        assert_eq!(problems(Family::random(), dir).await, expected);
    }

    #[tokio::test]
    async fn a_name_in_the_wrong_page_is_found() {
        let family = Family::random();
        let (low, high) = (names(&family, 0), names(&family, 1));
        let mut two = [low[0].clone(), high[0].clone(), high[1].clone()];
        two.sort();
        let page = leaf(two.iter().map(|name| file(name)).collect());
        assert_eq!(problems(family, top(page)).await, ["a name is in the wrong page"]);
    }

    #[tokio::test]
    async fn pages_that_overlap_are_found() {
        let family = Family::random();
        let low = names(&family, 0);
        let high = names(&family, 1).into_iter().find(|name| **name > *low[1]).unwrap();
        let child = |names: &[&str]| {
            let items = names.iter().map(|name| file(name)).collect();
            Child::of(Arc::new(leaf(items))).unwrap()
        };
        let beyond = format!("{high}-");
        let children = vec![child(&[&low[0], &beyond]), child(&[&high])];
        let found =
            problems(family, top(Page::Inner { level: 1, children: children.into() })).await;
        assert!(
            found.contains(&"a page begins or ends with the wrong name".to_owned()),
            "{found:?}"
        );
    }

    #[tokio::test]
    async fn a_page_on_the_wrong_level_is_found() {
        let child = Child::of(Arc::new(leaf(vec![file("a")]))).unwrap();
        let found =
            problems(Family::random(), top(Page::Inner { level: 2, children: vec![child].into() }));
        let expected = ["a page has only one page beneath it", "a page is on the wrong level"];
        assert_eq!(found.await, expected);
    }

    #[tokio::test]
    async fn a_piece_that_is_too_short_is_found() {
        let extent = Extent { len: 1000, ..Extent::fresh(Bytes::from_static(b"short")) };
        let body = Body::File(File::Pieces { len: 1000, top: Top::Few([extent].into()) });
        let dir = top(leaf(vec![item("a", body)]));
        assert_eq!(problems(Family::random(), dir).await, ["a piece of a file is too short"]);
    }
}
