//! Layouts: how an array is spread over members, and the memory that each member needs.
use crate::context::filled;
use crate::element::{Plain, Type};
use crate::error::{Error, Result};
use crate::layout::number;
use gpumem_sys as sys;

/// A box of the whole array, and its place in a member's memory. By default it is at the beginning, row-major and
/// without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    lower: Vec<usize>,
    upper: Vec<usize>,
    member: Option<usize>,
    ghosts: Option<(Vec<usize>, Vec<usize>)>,
    offset: usize,
    strides: Option<Vec<usize>>,
}

impl Block {
    /// A box from the indices `lower` up to but not including `upper`, along each axis.
    pub fn new(lower: &[usize], upper: &[usize]) -> Block {
        let (lower, upper) = (lower.to_vec(), upper.to_vec());
        Block { lower, upper, member: None, ghosts: None, offset: 0, strides: None }
    }

    /// The owner, a member of this process. By default, the member with the block's number in the layout.
    pub fn member(self, member: usize) -> Block {
        Block { member: Some(member), ..self }
    }

    /// Adds ghost cells along each axis: `low` before the block and `high` after it.
    pub fn ghosts(self, low: &[usize], high: &[usize]) -> Block {
        Block { ghosts: Some((low.to_vec(), high.to_vec())), ..self }
    }

    /// The distance, in elements, from the beginning of the member's memory to the block with its ghost cells.
    pub fn offset(self, offset: usize) -> Block {
        Block { offset, ..self }
    }

    /// The distance between neighbours along each axis, in elements.
    pub fn strides(self, strides: &[usize]) -> Block {
        Block { strides: Some(strides.to_vec()), ..self }
    }

    /// The strides, and the offset of the first element in the memory.
    fn place(&self) -> Option<(Vec<i64>, i64)> {
        let zeros = vec![0; self.lower.len()];
        let (low, high) = self.ghosts.as_ref().map_or((&zeros, &zeros), |(low, high)| (low, high));
        let (mut strides, mut next) = (vec![1; self.lower.len()], 1usize);
        for axis in (0..self.lower.len()).rev() {
            strides[axis] = next;
            let length =
                self.upper[axis].saturating_sub(self.lower[axis]).checked_add(low[axis])?.checked_add(high[axis])?;
            next = next.checked_mul(length.max(1))?;
        }
        let strides = self.strides.as_ref().unwrap_or(&strides);
        let mut first = self.offset;
        for (low, stride) in low.iter().zip(strides) {
            first = first.checked_add(low.checked_mul(*stride)?)?;
        }
        let strides = strides.iter().map(|&stride| i64::try_from(stride).ok());
        Some((strides.collect::<Option<_>>()?, i64::try_from(first).ok()?))
    }
}

/// The extents of an array, and the blocks that members of this process have. `gpumem_dist_layout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    element: Type,
    pub(crate) extents: Vec<usize>,
    blocks: Vec<Block>,
}

impl Layout {
    /// A layout with the extents of the whole array, the last axis fastest, and no blocks. Its plans only take memory
    /// of this element type.
    pub fn new<T: Plain>(extents: &[usize]) -> Layout {
        Layout { element: Type::of::<T>(), extents: extents.to_vec(), blocks: Vec::new() }
    }

    /// Adds a block.
    pub fn block(mut self, block: Block) -> Layout {
        self.blocks.push(block);
        self
    }
}

/// The data that the library's layout points to, and the end of each member's elements.
pub(crate) struct Boxes {
    pub element: Type,
    extents: Vec<i64>,
    members: Vec<i32>,
    lower: Vec<i64>,
    upper: Vec<i64>,
    offsets: Vec<i64>,
    strides: Vec<i64>,
}

/// The extents of a halo on both sides.
pub(crate) struct Halos {
    pub low: Vec<i64>,
    pub high: Vec<i64>,
    pub periodic: Vec<i32>,
}

pub(crate) fn numbers(values: &[usize]) -> Result<Vec<i64>> {
    values.iter().map(|&value| number(value)).collect()
}

impl Boxes {
    pub fn of(layout: &Layout, name: &str) -> Result<Boxes> {
        let rank = layout.extents.len();
        let mut boxes = Boxes {
            element: layout.element,
            extents: numbers(&layout.extents)?,
            members: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            offsets: Vec::new(),
            strides: Vec::new(),
        };
        for (i, block) in layout.blocks.iter().enumerate() {
            let ghosts = block.ghosts.iter().flat_map(|(low, high)| [low.len(), high.len()]);
            let strides = block.strides.iter().map(|strides| strides.len());
            if ghosts.chain(strides).chain([block.lower.len(), block.upper.len()]).any(|len| len != rank) {
                let sentence =
                    format!("{}: block {} does not have one value per axis; the array has {} axes", name, i, rank);
                return Err(Error::argument(sentence));
            }
            let too_large = || Error::argument(format!("{}: block {} needs more memory than is possible", name, i));
            let (strides, first) = block.place().ok_or_else(too_large)?;
            boxes.members.push(i32::try_from(block.member.unwrap_or(i)).unwrap_or(i32::MAX));
            boxes.lower.extend(numbers(&block.lower)?);
            boxes.upper.extend(numbers(&block.upper)?);
            boxes.offsets.push(first);
            boxes.strides.extend(strides);
        }
        Ok(boxes)
    }

    /// Valid as long as `self`.
    pub fn as_c(&self, api: &sys::Functions) -> Result<sys::gpumem_dist_layout> {
        let mut layout = filled(api.gpumem_dist_layout_init, |_| sys::GPUMEM_OK)?;
        layout.element_bytes = number(self.element.bytes)?;
        layout.rank = i32::try_from(self.extents.len()).unwrap_or(i32::MAX);
        layout.extents = self.extents.as_ptr();
        layout.boxes = number(self.members.len())?;
        layout.members = self.members.as_ptr();
        layout.lower = self.lower.as_ptr();
        layout.upper = self.upper.as_ptr();
        layout.offsets = self.offsets.as_ptr();
        layout.strides = self.strides.as_ptr();
        Ok(layout)
    }

    /// The elements that each member's memory needs, for its boxes and their halo.
    pub fn needed(&self, members: usize, halo: Option<&Halos>, name: &str) -> Result<Vec<usize>> {
        let rank = self.extents.len();
        let mut needed = vec![0; members];
        for (i, &member) in self.members.iter().enumerate() {
            let boxed = i * rank..(i + 1) * rank;
            let (lower, upper) = (&self.lower[boxed.clone()], &self.upper[boxed.clone()]);
            let needed = match usize::try_from(member).ok().and_then(|member| needed.get_mut(member)) {
                Some(needed) if lower.iter().zip(upper).all(|(lower, upper)| lower < upper) => needed,
                _ => continue, // empty, or the library refuses it
            };
            let (mut first, mut last) = (Some(self.offsets[i]), Some(self.offsets[i]));
            for (axis, &stride) in self.strides[boxed].iter().enumerate() {
                let (mut before, mut behind) = (0, upper[axis] - 1 - lower[axis]);
                if let Some(halo) = halo {
                    let (mut low, mut high) = (halo.low[axis], halo.high[axis]);
                    if halo.periodic[axis] == 0 {
                        low = low.min(lower[axis]);
                        high = high.min((self.extents[axis] - upper[axis]).max(0));
                    }
                    before = low;
                    behind = behind.saturating_add(high);
                }
                first = first.and_then(|first| first.checked_sub(before.checked_mul(stride)?));
                last = last.and_then(|last| last.checked_add(behind.checked_mul(stride)?));
            }
            let sentence = match (first, last.and_then(|last| usize::try_from(last).ok())) {
                (Some(first), Some(last)) if first >= 0 => {
                    *needed = last.saturating_add(1).max(*needed);
                    continue;
                }
                (Some(_), Some(_)) => "has no room for its halo before it",
                _ => "needs more memory than is possible",
            };
            return Err(Error::argument(format!("{}: block {} {}", name, i, sentence)));
        }
        Ok(needed)
    }
}
