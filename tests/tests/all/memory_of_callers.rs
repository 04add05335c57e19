//! Elements of the caller's memory, of any type and strides, beside a model in plain memory.

use ndarray::{Array1, Array2, Array3, ArrayD, ArrayView2, Axis, Ix2, IxDyn, s};
use proptest::prelude::*;
use std::sync::Arc;
use zarr::AsyncArray;
use zarr::dtype::Cast;
use zarr::prelude::*;
use zarr::store::{Counted, MemoryStore};

/// An array of two dimensions in chunks that do not divide it, each element `100 * row + column`.
fn numbers(rows: usize, columns: usize) -> (Array, Array2<i32>) {
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::new(&[rows as u64, columns as u64], "int32").chunks(&[3, 4]);
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let model = Array2::from_shape_fn((rows, columns), |(row, column)| (100 * row + column) as i32);
    array.write(.., &model).unwrap();
    (array, model)
}

/// One axis of a view of memory: where it begins, its step (of either sign), and whether axes are swapped.
fn steps() -> impl Strategy<Value = (usize, isize)> {
    (0..3_usize, prop_oneof![Just(-2_isize), Just(-1), Just(1), Just(2), Just(3)])
}

/// A view of `shape` in larger memory, with gaps, flips and swapped axes.
fn strided<'a>(
    memory: &'a mut Array2<i32>,
    shape: [usize; 2],
    [rows, columns]: [(usize, isize); 2],
    swapped: bool,
) -> ndarray::ArrayViewMut2<'a, i32> {
    let needed = |len: usize, (start, step): (usize, isize)| start + len.max(1) * step.unsigned_abs();
    let [height, width] = [needed(shape[0], rows), needed(shape[1], columns)];
    *memory = if swapped { Array2::from_elem((width, height), -1) } else { Array2::from_elem((height, width), -1) };
    let view = if swapped { memory.view_mut().reversed_axes() } else { memory.view_mut() };
    let view = view.slice_move(s![rows.0.., columns.0..]);
    let view = view.slice_move(s![..; rows.1, ..; columns.1]);
    view.slice_move(s![..shape[0], ..shape[1]])
}

proptest! {
    #[test]
    fn memory_of_any_strides_is_read_into_and_written_from(
        from in (0..7_usize, 0..9_usize),
        len in (0..7_usize, 0..9_usize),
        rows in steps(),
        columns in steps(),
        swapped: bool,
    ) {
        let (array, mut model) = numbers(7, 9);
        let region = (from.0..(from.0 + len.0).min(7), from.1..(from.1 + len.1).min(9));
        let selection = (region.0.start as u64..region.0.end as u64, region.1.start as u64..region.1.end as u64);
        let expected = model.slice(s![region.0.clone(), region.1.clone()]).to_owned();
        let mut memory = Array2::zeros((0, 0));
        let shape = [expected.nrows(), expected.ncols()];

        let mut view = strided(&mut memory, shape, [rows, columns], swapped);
        array.read_into(selection.clone(), view.view_mut()).unwrap();
        prop_assert_eq!(&view, &expected);
        let outside = memory.iter().filter(|&&value| value == -1).count();
        prop_assert_eq!(outside, memory.len() - expected.len(), "elements outside of the view stay as they were");

        let mut view = strided(&mut memory, shape, [rows, columns], swapped);
        view.assign(&(&expected + 1000));
        array.write(selection, view.view()).unwrap();
        model.slice_mut(s![region.0, region.1]).mapv_inplace(|value| value + 1000);
        prop_assert_eq!(array.read_array::<i32, Ix2>(..).unwrap(), model);
    }

    #[test]
    fn one_value_fills_any_selection(rows in prop::collection::vec(0..7_i64, 0..5), step in 1..4_usize, value: i32) {
        let (array, mut model) = numbers(7, 9);
        array.fill(format!("::{step}, 2:"), value).unwrap();
        model.slice_mut(s![..; step, 2..]).fill(value);
        array.fill((rows.clone(), 1..5), value ^ 1).unwrap();
        for &row in &rows {
            model.slice_mut(s![row as usize, 1..5]).fill(value ^ 1);
        }
        prop_assert_eq!(array.read_array::<i32, Ix2>(..).unwrap(), model);
    }
}

#[test]
fn elements_that_are_converted_go_through_strided_memory() {
    let store = zarr::store::create("memory:").unwrap();
    let words = zarr::create((&store, "/words")).array(NewArray::new(&[2, 3], "string").chunks(&[1, 2])).unwrap();
    words.write(.., &["a", "b", "c", "d", "", "f"]).unwrap();
    let read: Array2<String> = words.read_array(..).unwrap();
    assert_eq!(read, ndarray::array![["a", "b", "c"], ["d", "", "f"]].mapv(str::to_owned));
    let mut memory = Array2::from_elem((3, 4), "-".to_owned());
    words.read_into(.., memory.slice_mut(s![.., ..;2]).reversed_axes()).unwrap();
    assert_eq!(memory, ndarray::array![["a", "-", "d", "-"], ["b", "-", "", "-"], ["c", "-", "f", "-"]]);
    words.write((.., 1..3), memory.slice(s![..2, ..;2])).unwrap();
    assert_eq!(words.read::<String>(..).unwrap(), ["a", "a", "d", "d", "b", ""]);
    let mut slice = vec![String::new(); 2];
    words.read_into((.., 0), &mut slice).unwrap();
    assert_eq!(slice, ["a", "d"]);

    let flags = zarr::create((&store, "/flags")).array(NewArray::new(&[4], "bool").chunks(&[3])).unwrap();
    flags.write(.., Array1::from_vec(vec![true, false, true, true]).slice(s![..;-1])).unwrap();
    let mut memory = [false; 4];
    flags.read_into(.., &mut memory).unwrap();
    assert_eq!(memory, [true, true, false, true]);
    flags.fill(1..3, false).unwrap();
    assert_eq!(flags.read_as::<u8>(.., Cast::Exact).unwrap(), [1, 0, 0, 1]);

    words.fill((0, ..), "x").unwrap();
    assert_eq!(words.read::<String>(..).unwrap(), ["x", "x", "x", "d", "b", ""]);
}

#[test]
fn slices_are_appended_by_their_length() {
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::new(&[0, 3], "float64").chunks(&[2, 2]);
    let mut array = zarr::create((&store, "/a")).array(new).unwrap();
    array.append(0, &[1.0, 2.0, 3.0]).unwrap();
    array.append(0, &Array2::from_elem((2, 3), 4.0)).unwrap();
    array.append(1, &Array2::from_elem((1, 3), 5.0).reversed_axes()).unwrap();
    assert_eq!(array.shape(), [3, 4]);
    let expected = [1.0, 2.0, 3.0, 5.0, 4.0, 4.0, 4.0, 5.0, 4.0, 4.0, 4.0, 5.0];
    assert_eq!(array.read::<f64>(..).unwrap(), expected);
    let error = array.append(0, &[1.0; 6]).unwrap_err().to_string();
    assert!(error.contains("6 elements") && error.contains("a multiple of 4") && error.contains("/a"), "{error}");
    let error = array.append(2, &[1.0; 6]).unwrap_err().to_string();
    assert!(error.contains("dimension 2"), "{error}");
    let error = array.append(0, &["x"; 4]).unwrap_err().to_string();
    assert!(error.contains("/a") && error.contains("float64"), "{error}");
    assert_eq!(array.shape(), [3, 4]);
}

#[test]
fn memory_of_another_shape_or_type_is_refused_and_named() {
    let (array, _) = numbers(7, 9);
    let error = array.read_into((.., 0), &mut [0_i32; 6]).unwrap_err().to_string();
    assert!(error.contains("found 6 elements, expected 7") && error.contains("/a"), "{error}");
    let error = array.read_into(.., &mut Array2::<i32>::zeros((9, 7))).unwrap_err().to_string();
    assert!(error.contains("[9, 7]") && error.contains("[7, 9]"), "{error}");
    let error = array.read_into(.., &mut Array2::<f32>::zeros((7, 9))).unwrap_err().to_string();
    assert!(error.contains("int32") && error.contains("f32") && error.contains("/a"), "{error}");
    let error = array.read_array::<i32, ndarray::Ix3>(..).unwrap_err().to_string();
    assert!(error.contains("[7, 9]") && error.contains("3 dimensions"), "{error}");
    let error = array.write(.., &Array3::<i32>::zeros((7, 9, 1))).unwrap_err().to_string();
    assert!(error.contains("[7, 9, 1]"), "{error}");
    let error = array.read_as::<i8>(.., Cast::Exact).unwrap_err().to_string();
    assert!(error.contains("element 18: found 200, expected a value of i8") && error.contains("/a"), "{error}");
    assert_eq!(array.read_as::<i8>((2, ..3), Cast::Lossy).unwrap(), [127; 3]);
    assert_eq!(array.read_as::<f32>((2, ..3), Cast::Exact).unwrap(), [200.0, 201.0, 202.0]);
}

#[test]
fn each_chunk_has_one_region() {
    let (array, model) = numbers(7, 9);
    let sum = std::sync::Mutex::new((0, 0_i64));
    let each = |region: &zarr::grid::Region| {
        let values = array.read::<i32>(region)?;
        assert!(
            region.axes().iter().zip([3, 4]).all(|(axis, chunk)| axis.start / chunk == axis.last().unwrap() / chunk)
        );
        let mut sum = sum.lock().unwrap();
        *sum = (sum.0 + 1, sum.1 + values.iter().map(|&value| i64::from(value)).sum::<i64>());
        Ok(())
    };
    array.for_each_chunk(.., each).unwrap();
    assert_eq!(*sum.lock().unwrap(), (9, model.iter().map(|&value| i64::from(value)).sum()));
    *sum.lock().unwrap() = (0, 0);
    array.for_each_chunk("1:4, ::2", each).unwrap();
    let part = model.slice(s![1..4, ..;2]);
    assert_eq!(*sum.lock().unwrap(), (6, part.iter().map(|&value| i64::from(value)).sum()));
    let stop = array.for_each_chunk(.., |_| Err(zarr::Error::argument("stop"))).unwrap_err();
    assert!(stop.to_string().contains("stop"));
    assert!(array.for_each_chunk((vec![0_i64, 1, 5], ..), each).is_err());
}

#[test]
fn arrays_that_do_not_block_have_the_same_verbs() {
    let store: Arc<dyn zarr::AsyncStore> = Arc::new(zarr::store::SyncAsAsync::new(Arc::new(MemoryStore::new())));
    zarr::store::block_on(async {
        let new = NewArray::new(&[2, 2], "float32").chunks(&[1, 2]);
        let mut array = AsyncArray::create(&store, "/a", new, &zarr::registry::default()).await.unwrap();
        array.write(.., &ndarray::array![[1.0_f32, 2.0], [3.0, 4.0]].reversed_axes()).await.unwrap();
        array.append(0, &[5.0_f32, 6.0]).await.unwrap();
        array.fill((2, 1), 7.0_f32).await.unwrap();
        let mut memory = ArrayD::<f32>::zeros(IxDyn(&[2, 3]));
        array.read_into(.., memory.view_mut().reversed_axes()).await.unwrap();
        assert_eq!(memory, ndarray::array![[1.0, 2.0, 5.0], [3.0, 4.0, 7.0]].into_dyn());
        assert_eq!(array.read_as::<i64>((.., 0), Cast::Exact).await.unwrap(), [1, 2, 5]);
        let column: Array1<f32> = array.read_array((.., 1)).await.unwrap();
        assert_eq!(column.to_vec(), [3.0, 4.0, 7.0]);
    });
}

#[test]
fn views_of_no_elements_and_of_one_are_memory_too() {
    let (array, _) = numbers(7, 9);
    let mut none = Array2::<i32>::zeros((0, 9));
    array.read_into((3..3, ..), &mut none).unwrap();
    array.write((3..3, ..), &none).unwrap();
    let mut one = ndarray::arr0(0_i32);
    array.read_into((3, 4), &mut one).unwrap();
    assert_eq!(one.into_scalar(), 304);
    // A view that shows one row again and again may be written from.
    let row = Array1::from_vec((0..9).collect::<Vec<i32>>());
    let rows: ArrayView2<'_, i32> = row.broadcast((7, 9)).unwrap();
    array.write(.., rows).unwrap();
    assert!(array.read_array::<i32, Ix2>(..).unwrap().axis_iter(Axis(0)).all(|read| read == row));
}

/// An array of two dimensions, plain, in shards, or in shards of shards; and how often its store was asked.
fn counted(kind: usize) -> (Array, Array2<i32>, Arc<Counted<MemoryStore>>) {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = counted.clone();
    let new = NewArray::new(&[20, 30], "int32").chunks(&[4, 5]);
    let new = if kind == 0 { new } else { new.shards(&[8, 10]) };
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let model = Array2::from_shape_fn((20, 30), |(row, column)| (100 * row + column) as i32);
    array.write(.., &model).unwrap();
    // Some chunks hold nothing but the fill value, and are not stored.
    array.fill((12..16, ..), 0).unwrap();
    let mut model = model;
    model.slice_mut(s![12..16, ..]).fill(0);
    counted.take();
    (array, model, counted)
}

proptest! {
    #[test]
    fn several_regions_are_read_at_once(
        kind in 0..2_usize,
        regions in prop::collection::vec((0..20_u64, 0..21_u64, 0..30_u64, 0..31_u64, 1..4_u64, any::<bool>()), 0..8),
    ) {
        let (array, ..) = counted(kind);
        let mut parts = Vec::new();
        for &(top, height, left, width, step, flipped) in &regions {
            let (bottom, right) = ((top + height).min(20), (left + width).min(30));
            let rows = if flipped { format!("{}:{}:-{step}", bottom as i64 - 21, top as i64 - 21) } else { format!("{top}:{bottom}:{step}") };
            let selection = format!("{rows}, {left}:{right}");
            let expected = array.read_array::<i32, Ix2>(selection.as_str()).unwrap();
            parts.push((selection, expected));
        }
        let mut outputs: Vec<Array2<i32>> = parts.iter().map(|(_, expected)| Array2::from_elem(expected.dim(), -1)).collect();
        let pairs = parts.iter().map(|(selection, _)| selection.as_str()).zip(&mut outputs);
        array.read_many(pairs).unwrap();
        for ((selection, expected), read) in parts.iter().zip(&outputs) {
            prop_assert_eq!(read, expected, "{}", selection);
        }
    }
}

#[test]
fn each_chunk_and_index_is_asked_for_once() {
    for kind in 0..2 {
        let (array, model, counted) = counted(kind);
        let mut outputs = vec![Array2::<i32>::zeros((10, 12)); 16];
        let corner = |number: usize| ((number % 4) * 2, (number / 4) * 3);
        let windows = (0..16).map(|number| {
            let (y, x) = corner(number);
            (y as u64..y as u64 + 10, x as u64..x as u64 + 12)
        });
        array.read_many(windows.zip(&mut outputs)).unwrap();
        for (number, window) in outputs.iter().enumerate() {
            let (y, x) = corner(number);
            assert_eq!(window, model.slice(s![y..y + 10, x..x + 12]));
        }
        let requests = counted.take().gets;
        // 4 x 5 chunks, or 2 x 3 shards with one request for the index and one for inner chunks; and the document, since some chunks
        // are not stored.
        assert!(requests <= if kind == 0 { 20 + 1 } else { 12 + 1 }, "{requests} requests for kind {kind}");
    }
}

#[test]
fn several_regions_of_texts_are_converted() {
    let store = zarr::store::create("memory:").unwrap();
    let words = zarr::create((&store, "/words")).array(NewArray::new(&[6], "string").chunks(&[4])).unwrap();
    words.write(.., &["a", "b", "c", "d", "e", "f"]).unwrap();
    let mut outputs = vec![vec![String::new(); 3]; 3];
    words.read_many([0..3_u64, 2..5, 3..6].into_iter().zip(&mut outputs)).unwrap();
    assert_eq!(outputs, [["a", "b", "c"], ["c", "d", "e"], ["d", "e", "f"]]);
    let error = words.read_many([((vec![0_i64, 3, 4],), &mut vec![String::new(); 3])]).unwrap_err().to_string();
    assert!(error.contains("selection 0: found lists"), "{error}");
    let error = words.read_many([(0..3_u64, &mut vec![String::new(); 2])]).unwrap_err().to_string();
    assert!(error.contains("found memory for 2 elements, expected 3"), "{error}");
}
