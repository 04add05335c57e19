use super::*;
use proptest::prelude::*;
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

/// Item by item, as slowly and surely as can be.
fn model(view: &View<'_>) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    view.all(|item| {
        items.push(item.to_vec());
        true
    });
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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
            view.copy_swapped(&source_view.as_view(), width);
            let swapped: Vec<Vec<u8>> = model(&source_view.as_view())
                .into_iter()
                .map(|item| item.chunks(width).flat_map(|scalar| scalar.iter().rev().copied()).collect())
                .collect();
            prop_assert_eq!(model(&view.as_view()), swapped);
        }
        let mut gathered = vec![1];
        source_view.as_view().append_to(&mut gathered).unwrap();
        prop_assert_eq!(&gathered[1..], model(&source_view.as_view()).concat());
        let value: Vec<u8> = (0..a.item as u8).collect();
        view.fill(&value);
        prop_assert!(view.as_view().all(|item| item == value));
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
        for (place, item) in all.iter().enumerate() {
            let mut rest = place;
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
        let bounds: Vec<Vec<(usize, usize)>> = view.shape().iter().zip(&cuts)
            .map(|(&len, &step)| (0..len).step_by(step).map(|start| (start, step.min(len - start))).collect()).collect();
        let tiles = view.reborrow().tile(bounds).unwrap();
        let (first, rest) = tiles.split_at(2);
        for mut tile in first.chain(rest) {
            tile.all_mut(|item| { item.iter_mut().for_each(|byte| *byte += 1); true });
        }
        drop(view);
        prop_assert!(bytes.iter().all(|&byte| byte == 1));
    }
}

#[test]
fn refuses_what_does_not_fit() {
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
    assert!(view.tile(vec![vec![(0, 3), (2, 3)]]).is_err());
    let view = ViewMut::new(&mut bytes, 2, &[6]).unwrap();
    assert!(view.tile(vec![vec![(0, 3), (3, 4)]]).is_err());
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
