//! Numbers that go through several types, a block at a time.

use crate::convert::convert_scalars;
use crate::number::Number;
use zarr_dtype::Scalar;

/// Bytes of the largest number.
pub(crate) const MAX_SIZE: usize = 8;

/// Bytes of a block, which stays in the nearest cache.
pub(crate) const BLOCK: usize = 512 * MAX_SIZE;

/// A type that numbers are converted to, and what is done with a block of them in it. Each block follows the one before it.
pub(crate) type Step<'s> = (Scalar, &'s mut dyn FnMut(&mut [u8]));

/// Converts numbers from one type to another by way of `steps`. `output` has as many numbers as `input`.
#[expect(clippy::indexing_slicing, reason = "a block has room for as many numbers as are taken from the input at once")]
pub(crate) fn in_blocks(from: Scalar, to: Scalar, input: &[u8], output: &mut [u8], steps: &mut [Step<'_>]) {
    let (mut memory, mut other) = ([0; BLOCK], [0; BLOCK]);
    let (mut block, mut next) = (memory.as_mut_slice(), other.as_mut_slice());
    let most = BLOCK / MAX_SIZE;
    for (input, output) in input.chunks(most * from.size()).zip(output.chunks_mut(most * to.size())) {
        let count = input.len() / from.size();
        let mut here = from;
        for (number, (scalar, change)) in steps.iter_mut().enumerate() {
            let size = count * scalar.size();
            match number {
                0 => convert_scalars(here, *scalar, input, &mut block[..size]),
                _ if here == *scalar => {}
                _ => {
                    convert_scalars(here, *scalar, &block[..count * here.size()], &mut next[..size]);
                    std::mem::swap(&mut block, &mut next);
                }
            }
            here = *scalar;
            change(&mut block[..size]);
        }
        convert_scalars(here, to, &block[..count * here.size()], output);
    }
}

/// Replaces each number by `f` of it.
#[inline(always)]
pub(crate) fn change<T: Number>(numbers: &mut [u8], mut f: impl FnMut(T) -> T) {
    for item in numbers.chunks_exact_mut(T::SIZE) {
        f(T::load(item)).store(item);
    }
}
