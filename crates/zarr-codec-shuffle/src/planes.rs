//! Elements to planes of bytes, and back.

/// Elements that are moved at once, so that they stay in the cache while plane after plane is.
const BLOCK: usize = 2048;

/// Sets `out`, which is as long as `bytes`, to the first bytes of all elements, then the second ones, and so on. Bytes
/// beyond the last whole element are copied.
pub(crate) fn shuffle(bytes: &[u8], size: usize, out: &mut [u8]) {
    match size {
        0 | 1 => out.copy_from_slice(bytes),
        2 => to_planes::<2>(bytes, out),
        4 => to_planes::<4>(bytes, out),
        8 => to_planes::<8>(bytes, out),
        16 => to_planes::<16>(bytes, out),
        _ => {
            let (elements, count) = whole(bytes.len(), size);
            let (planes, rest) = out.split_at_mut(elements);
            let (bytes, tail) = bytes.split_at(elements);
            rest.copy_from_slice(tail);
            for (place, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                let column = bytes.iter().skip(place).step_by(size);
                plane.iter_mut().zip(column).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// The inverse of [`shuffle`].
pub(crate) fn unshuffle(bytes: &[u8], size: usize, out: &mut [u8]) {
    match size {
        0 | 1 => out.copy_from_slice(bytes),
        2 => to_elements::<2>(bytes, out),
        4 => to_elements::<4>(bytes, out),
        8 => to_elements::<8>(bytes, out),
        16 => to_elements::<16>(bytes, out),
        _ => {
            let (elements, count) = whole(bytes.len(), size);
            let (planes, tail) = bytes.split_at(elements);
            let (out, rest) = out.split_at_mut(elements);
            rest.copy_from_slice(tail);
            for (place, plane) in planes.chunks_exact(count.max(1)).enumerate() {
                let column = out.iter_mut().skip(place).step_by(size);
                column.zip(plane).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// Bytes and number of the whole elements.
fn whole(len: usize, size: usize) -> (usize, usize) {
    (len - len % size, len / size)
}

fn to_planes<const N: usize>(bytes: &[u8], out: &mut [u8]) {
    let (elements, tail) = bytes.as_chunks::<N>();
    let (planes, rest) = out.split_at_mut(elements.len() * N);
    rest.copy_from_slice(tail);
    for (number, block) in elements.chunks(BLOCK).enumerate() {
        for (place, plane) in planes.chunks_exact_mut(elements.len()).enumerate() {
            let plane = plane.get_mut(number * BLOCK..).unwrap_or_default();
            for (to, element) in plane.iter_mut().zip(block) {
                *to = element.get(place).copied().unwrap_or_default();
            }
        }
    }
}

fn to_elements<const N: usize>(bytes: &[u8], out: &mut [u8]) {
    let (elements, rest) = out.as_chunks_mut::<N>();
    let count = elements.len();
    let (planes, tail) = bytes.split_at(count * N);
    rest.copy_from_slice(tail);
    for (number, block) in elements.chunks_mut(BLOCK).enumerate() {
        for (place, plane) in planes.chunks_exact(count).enumerate() {
            let plane = plane.get(number * BLOCK..).unwrap_or_default();
            for (element, &from) in block.iter_mut().zip(plane) {
                if let Some(to) = element.get_mut(place) {
                    *to = from;
                }
            }
        }
    }
}
