//! Reader of arrays of Arrow for tests: elements as text, by the rules of the columnar format alone.

use zarr_arrow::{Batches, Data, Field};

/// Text of each element of each column, `None` for nulls.
pub(crate) type Columns = Vec<(String, Vec<Option<String>>)>;

/// Reads all batches. Also returns the number of rows of each.
pub(crate) fn read(batches: Batches) -> (Columns, Vec<usize>) {
    let schema = batches.schema().clone();
    let mut columns: Columns = schema.fields().iter().map(|field| (field.name().to_owned(), Vec::new())).collect();
    let mut rows = Vec::new();
    #[cfg(feature = "parquet")]
    let mut all = Vec::new();
    for batch in batches {
        let batch = batch.unwrap();
        rows.push(batch.rows());
        #[cfg(feature = "arrow")]
        crate::arrow_rs::converted(&batch);
        for ((_, column), (field, data)) in columns.iter_mut().zip(schema.fields().iter().zip(batch.columns())) {
            let texts = texts(field, data);
            assert_eq!(texts.len(), batch.rows(), "{}", field.name());
            column.extend(texts);
        }
        #[cfg(feature = "parquet")]
        all.push(batch);
    }
    #[cfg(feature = "parquet")]
    crate::ipc::check_read_back(&schema, &all);
    (columns, rows)
}

fn buffer(data: &Data, number: usize) -> &[u8] {
    data.buffers()[number].as_ref().unwrap().bytes()
}

fn numbers<const SIZE: usize>(data: &Data, number: usize) -> Vec<[u8; SIZE]> {
    let items = buffer(data, number).as_chunks::<SIZE>().0;
    items[data.offset()..data.offset() + data.len()].to_vec()
}

fn int(data: &Data, number: usize, index: usize) -> usize {
    let start = index * 4;
    i32::from_ne_bytes(buffer(data, number)[start..start + 4].try_into().unwrap()) as usize
}

/// Elements of an array as strings.
pub(crate) fn texts(field: &Field, data: &Data) -> Vec<Option<String>> {
    if let Some(values) = field.dictionary() {
        let values = texts(values, data.dictionary().unwrap());
        return (0..data.len()).map(|index| values[int(data, 1, data.offset() + index)].clone()).collect();
    }
    macro_rules! plain {
        ($type:ty) => {
            numbers(data, 1).into_iter().map(|item| <$type>::from_ne_bytes(item).to_string()).collect()
        };
    }
    let all: Vec<String> = match field.format() {
        "+r" => {
            let [ends, values] = data.child_data() else { unreachable!("{data:?}") };
            let values = texts(&field.children()[1], values);
            let mut found = Vec::new();
            for (run, value) in values.iter().enumerate() {
                found.resize(int(ends, 1, run).min(data.len()), value.clone());
            }
            return found;
        }
        "+s" => {
            let children = field.children().iter().zip(data.child_data());
            let children: Vec<Vec<_>> = children.map(|(field, data)| texts(field, data)).collect();
            (0..data.len()).map(|index| listed(children.iter().map(|child| child[index].clone()))).collect()
        }
        list if list.starts_with("+w:") => {
            let len: usize = list[3..].parse().unwrap();
            let items = texts(&field.children()[0], &data.child_data()[0]);
            items.chunks(len).map(|items| listed(items.iter().cloned())).collect()
        }
        "b" => {
            let bit = |index: usize| buffer(data, 1)[index / 8] >> (index % 8) & 1 == 1;
            (data.offset()..data.offset() + data.len()).map(|index| bit(index).to_string()).collect()
        }
        "c" => plain!(i8),
        "C" => plain!(u8),
        "s" => plain!(i16),
        "S" => plain!(u16),
        "i" => plain!(i32),
        "I" => plain!(u32),
        "L" => plain!(u64),
        "e" => {
            let floats = numbers(data, 1).into_iter().map(|item| half::f16::from_ne_bytes(item).to_string());
            floats.collect()
        }
        "f" => plain!(f32),
        "g" => plain!(f64),
        "l" | "tss:" | "tsm:" | "tsu:" | "tsn:" | "tDs" | "tDm" | "tDu" | "tDn" => plain!(i64),
        "U" | "Z" => {
            let offset = |index: usize| {
                i64::from_ne_bytes(buffer(data, 1)[index * 8..index * 8 + 8].try_into().unwrap()) as usize
            };
            let places = data.offset()..data.offset() + data.len();
            places.map(|index| text(&buffer(data, 2)[offset(index)..offset(index + 1)])).collect()
        }
        "vu" | "vz" => numbers::<16>(data, 1).iter().map(|view| text(viewed(data, view))).collect(),
        raw if raw.starts_with("w:") => {
            let len: usize = raw[2..].parse().unwrap();
            let items = buffer(data, 1).chunks_exact(len).skip(data.offset()).take(data.len());
            items.map(|item| format!("{item:?}")).collect()
        }
        other => panic!("format {other}"),
    };
    let nulls = all.iter().enumerate().filter(|(index, _)| data.is_null(*index)).count();
    assert_eq!(nulls, data.null_count());
    assert!(nulls == 0 || field.is_nullable(), "{field:?}");
    all.into_iter().enumerate().map(|(index, text)| (!data.is_null(index)).then_some(text)).collect()
}

fn listed(items: impl Iterator<Item = Option<String>>) -> String {
    items.map(|item| item.unwrap_or_else(|| "null".to_owned())).collect::<Vec<_>>().join(";")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn viewed<'d>(data: &'d Data, view: &'d [u8; 16]) -> &'d [u8] {
    let int = |at: usize| i32::from_ne_bytes(view[at..at + 4].try_into().unwrap()) as usize;
    let len = int(0);
    if len <= 12 {
        assert!(view[4 + len..].iter().all(|&byte| byte == 0));
        return &view[4..4 + len];
    }
    let sizes = data.buffers().len() - 1;
    let size = i64::from_ne_bytes(buffer(data, sizes)[int(8) * 8..int(8) * 8 + 8].try_into().unwrap());
    let block = buffer(data, 2 + int(8));
    assert_eq!(block.len() as i64, size);
    let found = &block[int(12)..int(12) + len];
    assert_eq!(found[..4], view[4..8]);
    found
}
