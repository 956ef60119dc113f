//! What links say about what they lead to.

use std::sync::Arc;

use storage::ObjectId;

use crate::tree::{
    Body, Child, Directory, Extent, ExtentPage, File, Heights, Item, Link, Name, Node, Page, Piece,
    Sum, Top,
};
use crate::{SandboxPath, name};

/// The longest target that a link can have.
const LONGEST_TARGET: usize = 4095;

/// Where in a tree something is.
#[derive(Debug)]
pub(super) struct Place {
    above: Option<Arc<Self>>,
    name: Name,
}

impl Place {
    pub(super) fn root() -> Arc<Self> {
        Arc::new(Self { above: None, name: "".into() })
    }

    fn child(self: &Arc<Self>, name: &Name) -> Arc<Self> {
        Arc::new(Self { above: Some(Arc::clone(self)), name: name.clone() })
    }

    pub(super) fn path(&self) -> SandboxPath {
        let (mut names, mut next) = (Vec::new(), Some(self));
        while let Some(place) = next {
            names.push(&*place.name);
            next = place.above.as_deref();
        }
        names.pop();
        names.reverse();
        let root = SandboxPath::root();
        if names.is_empty() { root } else { root.child(&names.join("/")) }
    }
}

/// A link, what it says, and where it was found.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) place: Arc<Place>,
    pub(super) about: About,
}

/// What a link says about what it leads to.
#[derive(Debug)]
pub(super) enum About {
    Page {
        link: Link<Page>,
        span: Span,
        sum: Sum,
    },
    Extents {
        link: Link<ExtentPage>,
        above: u8,
        len: u64,
    },
    /// A chunk has at least so many bytes.
    Chunk {
        id: ObjectId,
        len: u64,
    },
}

/// Which names are in a page.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// How far above the names it is; any level for the topmost page.
    level: Option<u8>,
    /// The first name; any for the topmost page.
    first: Option<Name>,
    /// The name that the next page begins with.
    end: Option<Name>,
    /// Whether the directory begins with it.
    begins: bool,
}

/// What was found in a page: more links, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) claims: Vec<Claim>,
    pub(super) problems: Vec<(Arc<Place>, &'static str)>,
}

impl Findings {
    fn demand(&mut self, place: &Arc<Place>, is_right: bool, problem: &'static str) {
        if !is_right {
            self.problems.push((Arc::clone(place), problem));
        }
    }

    /// Adds what a directory leads to.
    pub(super) fn directory(&mut self, place: &Arc<Place>, dir: &Directory) {
        let span = Span { level: None, first: None, end: None, begins: true };
        match &dir.top {
            Some(top) => {
                let about = About::Page { link: top.clone(), span, sum: dir.sum };
                self.claims.push(Claim { place: Arc::clone(place), about });
            }
            None => {
                let is_empty = dir.sum == Sum::default();
                self.demand(place, is_empty, "an empty directory does not add up to nothing");
            }
        }
    }

    /// Adds what a page of names leads to, and what is wrong with it.
    pub(super) fn page(
        &mut self,
        place: &Arc<Place>,
        page: &Page,
        (span, sum): (&Span, &Sum),
        heights: &Heights,
    ) {
        self.demand(place, page.sum() == *sum, "a page does not add up to what is said of it");
        let is_level = span.level.is_none_or(|level| page.level() == level);
        self.demand(place, is_level, "a page is on the wrong level");
        let is_needless = span.level.is_none() && page.level() > 0 && page.len() == 1;
        self.demand(place, !is_needless, "a page has only one page beneath it");
        let begins = span.first.is_none() || page.first() == span.first.as_ref();
        let ends = span.end.as_ref().is_none_or(|end| last(page).is_none_or(|last| last < end));
        self.demand(place, begins && ends, "a page begins or ends with the wrong name");
        let may_begin =
            span.begins || page.first().is_some_and(|name| heights.height(name) > page.level());
        self.demand(place, may_begin, "a page begins with a name that begins none");
        // A higher name would begin a page; a lower one would not begin the page beneath.
        let are_right = names(page).skip(1).all(|name| heights.height(name) == page.level());
        self.demand(place, are_right, "a name is in the wrong page");
        match page {
            Page::Leaf(items) => items.iter().for_each(|item| self.item(place, item)),
            Page::Inner { level, children } => self.children(place, *level, children, span),
        }
    }

    fn children(&mut self, place: &Arc<Place>, level: u8, children: &[Child], span: &Span) {
        let ends = children.iter().skip(1).map(|next| Some(next.first.clone()));
        let ends = ends.chain([span.end.clone()]);
        for (index, (Child { first, link, sum }, end)) in children.iter().zip(ends).enumerate() {
            let span = Span {
                level: level.checked_sub(1),
                first: Some(first.clone()),
                end,
                begins: span.begins && index == 0,
            };
            let about = About::Page { link: link.clone(), span, sum: *sum };
            self.claims.push(Claim { place: Arc::clone(place), about });
        }
    }

    fn item(&mut self, dir: &Arc<Place>, Item { name, node, .. }: &Item) {
        let Node { body, .. } = node;
        match body {
            Body::Directory(held) => self.directory(&dir.child(name), held),
            Body::File(File::Inline(_)) => {}
            Body::File(File::Pieces { top: Top::Few(extents), len }) => {
                let place = dir.child(name);
                let sum = extents.iter().map(|extent| extent.len).sum::<u64>();
                self.demand(&place, sum == *len, "the pieces of a file are not as long as it is");
                self.pieces(&place, extents);
            }
            Body::File(File::Pieces { top: Top::Many(link), len }) => {
                let about = About::Extents { link: link.clone(), above: u8::MAX, len: *len };
                self.claims.push(Claim { place: dir.child(name), about });
            }
            Body::Symlink(target) => {
                let len = name::to_bytes(target).len();
                let can_be = (1..=LONGEST_TARGET).contains(&len) && !target.contains('\0');
                self.demand(&dir.child(name), can_be, "a link's target cannot be one");
            }
        }
    }

    /// Adds what a page of pieces leads to, and what is wrong with it.
    pub(super) fn extents(
        &mut self,
        place: &Arc<Place>,
        page: &ExtentPage,
        (above, len): (u8, u64),
    ) {
        let is_long = page.len() == len;
        self.demand(place, is_long, "pieces of a file are not as long as is said of them");
        match page {
            ExtentPage::Leaf(extents) => self.pieces(place, extents),
            ExtentPage::Inner { level, children } => {
                // Whoever reads the file goes down until he reaches pieces.
                self.demand(place, *level < above, "a page of pieces is on the wrong level");
                for child in children.iter().filter(|_| *level < above) {
                    let (link, len) = (child.link.clone(), child.len);
                    let about = About::Extents { link, above: *level, len };
                    self.claims.push(Claim { place: Arc::clone(place), about });
                }
            }
        }
    }

    fn pieces(&mut self, place: &Arc<Place>, extents: &[Extent]) {
        for Extent { piece, start, len } in extents {
            let len = u64::from(*start).saturating_add(*len);
            match piece {
                Piece::Hole => {}
                Piece::Fresh(bytes) => {
                    self.demand(place, len <= bytes.len() as u64, "a piece of a file is too short");
                }
                Piece::Stored(id) => {
                    let about = About::Chunk { id: *id, len };
                    self.claims.push(Claim { place: Arc::clone(place), about });
                }
            }
        }
    }
}

/// The names that a page has, or that the pages beneath it begin with.
fn names(page: &Page) -> Box<dyn Iterator<Item = &Name> + '_> {
    match page {
        Page::Leaf(items) => Box::new(items.iter().map(|item| &item.name)),
        Page::Inner { children, .. } => Box::new(children.iter().map(|child| &child.first)),
    }
}

fn last(page: &Page) -> Option<&Name> {
    names(page).last()
}

impl About {
    /// Bytes that no other claim has.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Page { link, span, sum } => {
                format!("page {} {span:?} {sum:?}", name_of(link)).into_bytes()
            }
            Self::Extents { link, above, len } => {
                format!("extents {} {above} {len}", name_of(link)).into_bytes()
            }
            Self::Chunk { id, len } => format!("chunk {id} {len}").into_bytes(),
        }
    }
}

fn name_of<P>(link: &Link<P>) -> String {
    match link {
        Link::Fresh(page) => format!("{:p}", Arc::as_ptr(page)),
        Link::Stored(id) => id.to_string(),
    }
}
