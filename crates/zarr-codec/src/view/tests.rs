use super::*;
use proptest::prelude::*;
use zarr_dtype::SwapRun;
use zarr_grid::AxisRange;

/// Strides of a C-order buffer whose axes are then permuted and partly reversed.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    item: usize,
    order: Vec<usize>,
    flips: Vec<bool>,
}

fn cases() -> impl Strategy<Value = Case> {
    (prop::collection::vec(0usize..9, 0..5), prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16])).prop_flat_map(
        |(shape, item)| {
            let rank = shape.len();
            let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
            (Just(shape), Just(item), order, prop::collection::vec(any::<bool>(), rank))
                .prop_map(|(shape, item, order, flips)| Case { shape, item, order, flips })
        },
    )
}

impl Case {
    fn size(&self) -> usize {
        self.shape.iter().product::<usize>() * self.item
    }

    fn view_mut<'a>(&self, bytes: &'a mut [u8]) -> ViewMut<'a> {
        let mut view = ViewMut::new(bytes, self.item, &self.shape).unwrap().permuted(&self.order);
        for (axis, &flip) in self.flips.iter().enumerate() {
            if flip {
                view = view.flipped(axis);
            }
        }
        view
    }
}

/// Returns the elements of a view in C order, copied one by one.
fn model(view: &View<'_>) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    view.all(|item| {
        items.push(item.to_vec());
        true
    });
    items
}

/// Returns the elements of a view, with the bytes of each number of `runs` reversed.
fn swapped(view: &View<'_>, runs: &[SwapRun]) -> Vec<Vec<u8>> {
    let mut items = model(view);
    for item in &mut items {
        for run in runs {
            (0..run.count).for_each(|i| item[run.offset + i * run.stride..][..run.width].reverse());
        }
    }
    items
}

/// Returns runs of numbers within an element of `item` bytes; each of `bytes` chooses width, stride and count of a run.
fn runs(item: usize, bytes: &[u8]) -> Vec<SwapRun> {
    let mut runs = Vec::new();
    let mut offset = 0;
    for byte in bytes {
        offset += usize::from(byte % 3);
        let width = 1 << (1 + byte / 4 % 3);
        let stride = width + usize::from(byte / 16 % 3);
        let count = 1 + usize::from(byte / 64);
        let run = SwapRun { offset, width, count, stride };
        if offset + (count - 1) * stride + width <= item {
            runs.push(run);
            // The gaps between numbers may hold the numbers of another run.
            offset = if count > 1 && stride >= width + 2 && byte % 2 == 0 {
                offset + width
            } else {
                offset + count * stride
            };
            if offset + 2 <= item && count > 1 && stride >= width + 2 && byte % 2 == 0 {
                runs.push(SwapRun { offset, width: 2, count: count - 1, stride });
                offset += count * stride;
            }
        }
    }
    runs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn large_copies_equal_the_model(
        shape in prop::collection::vec(1usize..150, 2),
        planes in 1usize..3,
        item in prop::sample::select(vec![1usize, 2, 4, 8, 12, 16]),
        transposed in any::<bool>(),
        gap in 0usize..3,
        stream in any::<bool>(),
    ) {
        let shape = [planes, shape[0], shape[1]];
        let order = if transposed { [2, 0, 1] } else { [0, 1, 2] };
        let size = shape.iter().product::<usize>() * item;
        let source: Vec<u8> = (0..size).map(|i| (i * 7 + i / 251) as u8).collect();
        let source = View::new(&source, item, &shape).unwrap().permuted(&order);
        // Rows of the target lie apart.
        let wide: Vec<usize> = source.shape().iter().map(|len| len + gap).collect();
        let window = Region::from_ranges(&source.shape().iter().map(|&len| 0..len as u64).collect::<Vec<_>>());
        for width in [1, 2, 4, 8].into_iter().filter(|width| item.is_multiple_of(*width)) {
            let run = SwapRun { offset: 0, width, count: item / width, stride: width };
            let runs = if width == 1 { Vec::new() } else { vec![run] };
            for isa in zarr_kernels::Isa::available() {
                let mut target = vec![0xEE; wide.iter().product::<usize>() * item];
                let mut all = ViewMut::new(&mut target, item, &wide).unwrap();
                let mut view = all.reborrow().window(&window).streamed(stream);
                copy::copy_with(isa, &mut view, &source, width);
                prop_assert_eq!(model(&view.as_view()), swapped(&source, &runs));
                let touched = model(&all.as_view()).into_iter().filter(|item| item.iter().any(|&byte| byte != 0xEE)).count();
                prop_assert!(touched <= source.len());
            }
        }
    }

    #[test]
    fn copies_equal_the_model(a in cases(), shuffle in any::<prop::sample::Index>(), flip in any::<bool>()) {
        let mut source: Vec<u8> = (0..a.size()).map(|i| (i * 7 + i / 251) as u8).collect();
        let source_view = a.view_mut(&mut source);
        let shape = source_view.shape().to_vec();
        // A target of the same shape whose axes lie in memory in another order.
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if !order.is_empty() {
            order.rotate_left(shuffle.index(shape.len()));
        }
        let inverse: Vec<usize> = (0..shape.len()).map(|axis| order.iter().position(|&o| o == axis).unwrap()).collect();
        let memory: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let mut target = vec![0xEE; a.size()];
        let mut view = ViewMut::new(&mut target, a.item, &memory).unwrap().permuted(&inverse);
        if flip && !shape.is_empty() {
            view = view.flipped(0);
        }
        view.copy_from(&source_view.as_view());
        prop_assert_eq!(model(&view.as_view()), model(&source_view.as_view()));
        for width in [2, 4, 8, 3].into_iter().filter(|width| a.item.is_multiple_of(*width)) {
            let run = SwapRun { offset: 0, width, count: a.item / width, stride: width };
            view.copy_swapped(&source_view.as_view(), &[run]);
            prop_assert_eq!(model(&view.as_view()), swapped(&source_view.as_view(), &[run]));
        }
        let mut gathered = vec![1];
        source_view.as_view().append_to(&mut gathered).unwrap();
        prop_assert_eq!(&gathered[1..], model(&source_view.as_view()).concat());
        let value: Vec<u8> = (0..a.item as u8).collect();
        view.fill(&value);
        prop_assert!(view.as_view().all(|item| item == value));
    }

    #[test]
    fn numbers_in_items_are_swapped(
        case in cases(),
        item in 1usize..40,
        bytes in prop::collection::vec(any::<u8>(), 0..6),
        flip in any::<bool>(),
    ) {
        let case = Case { item, ..case };
        let runs = runs(item, &bytes);
        let mut source: Vec<u8> = (0..case.size()).map(|i| (i * 13 + i / 251) as u8).collect();
        let source = case.view_mut(&mut source);
        let source = source.as_view();
        let due = swapped(&source, &runs);
        let mut target = vec![0; case.size()];
        let mut view = ViewMut::new(&mut target, item, source.shape()).unwrap();
        if flip && view.shape().len() > 1 {
            let shape: Vec<usize> = source.shape().iter().rev().copied().collect();
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            view = ViewMut::new(&mut target, item, &shape).unwrap().permuted(&order);
        }
        view.copy_swapped(&source, &runs);
        prop_assert_eq!(model(&view.as_view()), due.clone());
        let mut appended = vec![7];
        source.append_swapped(&runs, &mut appended).unwrap();
        prop_assert_eq!(&appended[1..], due.concat());
    }

    #[test]
    fn parts_equal_the_model(case in cases(), start in 0usize..16, item in 1usize..5, shape in prop::collection::vec(1usize..4, 0..3)) {
        let mut bytes: Vec<u8> = (0..case.size()).map(|i| (i * 13) as u8).collect();
        let mut view = case.view_mut(&mut bytes);
        let size = item * shape.iter().product::<usize>();
        let due: Vec<Vec<u8>> = model(&view.as_view());
        let part = view.as_view().part(start, item, &shape);
        if start + size > case.item {
            prop_assert!(part.is_err());
            prop_assert!(view.part(start, item, &shape).is_err());
            return Ok(());
        }
        let part = part.unwrap();
        prop_assert_eq!(part.shape(), [view.shape(), &shape].concat());
        let due: Vec<u8> = due.iter().flat_map(|item| item[start..start + size].to_vec()).collect();
        prop_assert_eq!(model(&part).concat(), due);
        // A write to a part changes that part alone.
        let mut model_after = model(&view.as_view());
        model_after.iter_mut().for_each(|item| item[start..start + size].fill(0xee));
        view.reborrow().part(start, item, &shape).unwrap().fill(&vec![0xee; item]);
        prop_assert_eq!(model(&view.as_view()), model_after);
    }

    #[test]
    fn windows_equal_the_model(case in cases(), seed in any::<u64>()) {
        let mut bytes: Vec<u8> = (0..case.size()).map(|i| (i * 13) as u8).collect();
        let view = case.view_mut(&mut bytes);
        let mut seed = seed;
        let mut next = |below: u64| { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (seed >> 33) % below.max(1) };
        let axes: Vec<AxisRange> = view.shape().iter().map(|&len| {
            let len = len as u64;
            if len == 0 { return AxisRange { start: 0, len: 0, step: 1 } }
            let (start, step) = (next(len), 1 + next(3));
            AxisRange { start, len: 1 + next((len - start - 1) / step + 1), step }
        }).collect();
        let region = Region::new(axes.iter().copied()).unwrap();
        let window = view.as_view().window(&region);
        let all = model(&view.as_view());
        let mut due = Vec::new();
        let shape = view.shape();
        for (at, item) in all.iter().enumerate() {
            let mut rest = at;
            let mut index = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() { index[axis] = (rest % shape[axis]) as u64; rest /= shape[axis]; }
            let inside = index.iter().zip(&axes).all(|(&i, a)| i >= a.start && (i - a.start).is_multiple_of(a.step) && (i - a.start) / a.step < a.len);
            if inside { due.push(item.clone()) }
        }
        prop_assert_eq!(model(&window), due);
    }

    #[test]
    fn tiles_cover_without_overlap(case in cases(), cuts in prop::collection::vec(1usize..4, 5)) {
        let mut bytes = vec![0; case.size()];
        let mut view = case.view_mut(&mut bytes);
        let bounds: Vec<AxisWindows> = view.shape().iter().zip(&cuts)
            .map(|(&len, &step)| (0..len).step_by(step).map(|start| (start, step.min(len - start))).collect()).collect();
        let windows = view.reborrow().into_windows(bounds).unwrap();
        let (first, rest) = windows.split_at(2);
        for mut window in first.chain(rest) {
            window.all_mut(|item| { item.iter_mut().for_each(|byte| *byte += 1); true });
        }
        drop(view);
        prop_assert!(bytes.iter().all(|&byte| byte == 1));
    }

    #[test]
    fn rows_of_tiles_are_runs_of_them(
        case in cases(),
        windows in prop::collection::vec((0usize..3, 0usize..4), 5),
        most in 1usize..5,
        skipped in 0usize..5,
    ) {
        let mut buffers = [vec![0xEE; case.size()], vec![0xEE; case.size()]];
        let mut counts = [0u8; 2];
        for (one_by_one, bytes) in buffers.iter_mut().enumerate() {
            let view = case.view_mut(bytes);
            let bounds = view.shape().iter().zip(&windows).map(|(&len, &(gap, width))| {
                // The last ones are of another length, or at another distance.
                let starts = (0..len).step_by((gap + width).max(1));
                starts.map(|start| (start, width.min(len - start))).chain((width == 2).then_some((len, 0))).collect()
            });
            let bounds = bounds.collect();
            let mut windows = view.into_windows(bounds).unwrap().split_at(skipped).1;
            let number = &mut counts[one_by_one];
            while let Some(mut row) = if one_by_one == 0 { windows.next_row(most) } else { windows.next().map(|it| it.with_axis(0)) } {
                prop_assert!((1..=most).contains(&row.shape()[0]));
                for i in 0..row.shape()[0] as u64 {
                    let mut ranges: Vec<_> = row.shape().iter().map(|&len| 0..len as u64).collect();
                    ranges[0] = i..i + 1;
                    row.reborrow().window(&Region::from_ranges(&ranges)).fill(&vec![*number; case.item]);
                    *number = number.wrapping_add(1);
                }
            }
        }
        prop_assert_eq!(counts[0], counts[1]);
        prop_assert_eq!(&buffers[0], &buffers[1]);
    }
}

proptest! {
    #[test]
    fn runs_are_all_items_once(case in cases(), stop in 0usize..40) {
        let mut bytes: Vec<u8> = (0..case.size()).map(|at| at as u8).collect();
        let view = case.view_mut(&mut bytes);
        let mut items = model(&view.as_view());
        let mut found = Vec::new();
        let ended = view.as_view().runs(|run| {
            found.extend(run.chunks(case.item).map(<[u8]>::to_vec));
            true
        });
        prop_assert!(ended);
        items.sort();
        found.sort();
        prop_assert_eq!(&found, &items);
        let mut visited = 0;
        let ended = view.as_view().runs(|_| {
            visited += 1;
            visited < stop
        });
        prop_assert!(ended || visited == stop.max(1));
        let mut view = case.view_mut(&mut bytes);
        view.runs_mut(|run| {
            run.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            true
        });
        prop_assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == (at as u8).wrapping_add(1)));
    }
}

#[test]
fn runs_of_one_item_again_and_again_are_one() {
    let view = View::from_strides(&[1, 2], 2, &[1000, 1000], 0, &[0, 0]).unwrap();
    let mut runs = Vec::new();
    view.runs(|run| {
        runs.push(run.to_vec());
        true
    });
    assert_eq!(runs, [[1, 2]]);
}

#[test]
fn memory_of_another_size_is_refused() {
    let mut bytes = [0; 12];
    assert!(View::new(&bytes, 2, &[2, 4]).is_err());
    assert!(View::new(&bytes, 4, &[usize::MAX, 2]).is_err());
    assert!(View::new(&[], 4, &[usize::MAX, usize::MAX, 0]).is_err());
    assert!(View::new(&[], 4, &[0, 5]).is_ok());
    assert!(View::from_strides(&bytes, 2, &[2, 3], 0, &[6, 2]).is_ok());
    assert!(View::from_strides(&bytes, 2, &[2, 3], 2, &[6, 2]).is_err());
    assert!(View::from_strides(&bytes, 2, &[6], 10, &[-2]).is_ok());
    assert!(View::from_strides(&bytes, 2, &[7], 10, &[-2]).is_err());
    assert!(View::from_strides(&bytes, 2, &[3, 100], 0, &[2, 0]).is_ok(), "shared views may broadcast");
    assert!(ViewMut::from_strides(&mut bytes, 2, &[3, 100], 0, &[2, 0]).is_err(), "exclusive ones may not");
    assert!(ViewMut::from_strides(&mut bytes, 2, &[2, 3], 0, &[3, 2]).is_err());
    assert!(ViewMut::from_strides(&mut bytes, 2, &[3, 2], 0, &[2, 6]).is_ok());
    let view = ViewMut::new(&mut bytes, 2, &[6]).unwrap();
    assert!(view.into_windows(vec![[(0, 3), (2, 3)].into_iter().collect()]).is_err());
    let view = ViewMut::new(&mut bytes, 2, &[6]).unwrap();
    assert!(view.into_windows(vec![[(0, 3), (3, 4)].into_iter().collect()]).is_err());
}

/// A view that is larger than a block is copied block by block, with swapped bytes.
#[test]
fn large_views_are_swapped() {
    let source: Vec<u8> = (0..7 * 50_000).map(|i| (i / 7) as u8 ^ (i % 7) as u8).collect();
    let source = View::new(&source, 7, &[5000, 10]).unwrap();
    let runs =
        [SwapRun { offset: 0, width: 4, count: 1, stride: 4 }, SwapRun { offset: 5, width: 2, count: 1, stride: 2 }];
    let mut appended = Vec::new();
    source.append_swapped(&runs, &mut appended).unwrap();
    assert_eq!(appended, swapped(&source, &runs).concat());
}

#[test]
#[should_panic(expected = "in items of 4 bytes")]
fn runs_outside_are_refused() {
    let run = SwapRun { offset: 1, width: 2, count: 2, stride: 2 };
    let _ = View::new(&[0; 8], 4, &[2]).unwrap().append_swapped(&[run], &mut Vec::new());
}

#[test]
fn flipped_reverses() {
    let mut bytes = [1, 2, 3, 4, 5, 6];
    let view = ViewMut::new(&mut bytes, 1, &[2, 3]).unwrap().flipped(1);
    let mut out = Vec::new();
    view.as_view().append_to(&mut out).unwrap();
    assert_eq!(out, [3, 2, 1, 6, 5, 4]);
}

#[test]
#[should_panic(expected = "within 3 items")]
fn windows_outside_are_refused() {
    let bytes = [0; 3];
    let _ =
        View::new(&bytes, 1, &[3]).unwrap().window(&Region::new([AxisRange { start: 1, len: 3, step: 1 }]).unwrap());
}
