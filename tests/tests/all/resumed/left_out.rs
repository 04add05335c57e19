//! Chunks that cannot be read.

use super::failing::Failing;
use super::*;
use zarr::convert::SkippedChunk;

/// An array of three chunks of two numbers with a checksum, of which the second is broken.
fn broken(dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    let codecs = if dialect == Dialect::V2 { "numcodecs.crc32" } else { "bytes,crc32c" };
    let new = NewArray::new(&[6], "int16").chunks(&[2]).fill(-1).codecs(codecs).unwrap().dialect(dialect);
    zarr::create((&store, "/a")).array(new).unwrap().write(.., &[1_i16, 2, 3, 4, 5, 6]).unwrap();
    let key = chunk_key(dialect);
    let mut bytes = store.get_all(&key).unwrap().unwrap().to_vec();
    bytes[0] ^= 1;
    store.set_all(&key, &bytes).unwrap();
    store
}

fn chunk_key(dialect: Dialect) -> Key {
    Key::new(if dialect == Dialect::V2 { "a/1" } else { "a/c/1" }).unwrap()
}

fn run(source: &Arc<dyn Store>, target: &Arc<dyn Store>, options: ConvertOptions) -> zarr::Result<Vec<SkippedChunk>> {
    let skipped = Mutex::new(Vec::new());
    plan(source, options).run(target, |event| {
        if let Progress::Skipped(chunk) = event {
            skipped.lock().unwrap().push(chunk.clone());
        }
    })?;
    Ok(skipped.into_inner().unwrap())
}

#[test]
fn a_broken_chunk_ends_a_conversion_unless_it_keeps_going() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let source = broken(dialect);
        for chunks in [1, 4, 6] {
            let options = options().memory(1000).chunks(vec![chunks]);
            let error = run(&source, &memory(), options.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ChecksumMismatch);
            let target = memory();
            let skipped = run(&source, &target, options.keep_going(true)).unwrap();
            let [chunk] = &skipped[..] else { panic!("{skipped:?}") };
            assert_eq!((chunk.path.to_string().as_str(), &chunk.chunk[..]), ("/a", &[1][..]));
            assert_eq!(chunk.key.as_deref(), Some(chunk_key(dialect).as_str()));
            assert!(chunk.cause.contains("checksum"), "{chunk}");
            let array = zarr::open((&target, "/a")).array().unwrap();
            assert_eq!(array.read::<i16>(..).unwrap(), [1, 2, -1, -1, 5, 6], "{dialect} {chunks}");
        }
    }
}

#[test]
fn chunks_that_a_resumed_run_does_not_read_again_are_reported_again() {
    let source = broken(Dialect::V3);
    let options = options().chunks(vec![1]).keep_going(true);
    let mut resumed = 0;
    for left in 5..40 {
        let target = memory();
        if run(&source, &Failing::after(&target, left).store(), options.clone()).is_ok() {
            break;
        }
        let Ok(skipped) = run(&source, &target, options.clone().resume(true)) else { continue };
        assert_eq!(skipped.len(), 1, "{left}: {skipped:?}");
        let array = zarr::open((&target, "/a")).array().unwrap();
        assert_eq!(array.read::<i16>(..).unwrap(), [1, 2, -1, -1, 5, 6]);
        resumed += 1;
    }
    assert!(resumed > 5, "{resumed}");
}

#[test]
fn a_value_that_cannot_be_read_is_left_out_of_a_copy() {
    for (dialect, other) in [(Dialect::V3, Dialect::V3), (Dialect::V2, Dialect::V3)] {
        let source = source(dialect);
        let (key, chunk) = if dialect == Dialect::V2 { ("g/b/7.0", [7, 0]) } else { ("g/b/c/7/0", [7, 0]) };
        let failing = Failing::at_key(&source, key).store();
        let options = options().dialect(other);
        let error = run(&failing, &memory(), options.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        let target = memory();
        let skipped = run(&failing, &target, options.keep_going(true)).unwrap();
        assert_eq!(skipped.iter().map(|chunk| &chunk.chunk[..]).collect::<Vec<_>>(), [chunk]);
        assert!(skipped[0].cause.contains("a bad sector"), "{}", skipped[0]);
        let array = zarr::open((&target, "/g/b")).array().unwrap();
        assert_eq!(array.read::<i16>((6..9, ..)).unwrap(), [12, 13, -1, -1, 16, 17], "{dialect}");
    }
}

#[test]
fn a_journal_is_small_however_many_chunks_cannot_be_read() {
    let store = memory();
    let new = NewArray::new(&[1500], "int8").chunks(&[1]).fill(-1).codecs("bytes,crc32c").unwrap();
    zarr::create((&store, "/a")).array(new).unwrap().write(.., &vec![1_i8; 1500]).unwrap();
    for key in store.list().unwrap().iter().filter(|key| is_chunk(key.as_str())) {
        store.set_all(key, b"broken").unwrap();
    }
    let options = options().chunks(vec![10]).keep_going(true);
    let target = memory();
    // All chunks of the array are done, but nothing shows it.
    let stopping = Failing::never(&target);
    let conversion = plan(&store, options.clone());
    let done = Mutex::new(0);
    let stopped = conversion.run(&stopping.store(), |event| {
        if let Progress::Done(bytes) = event {
            *done.lock().unwrap() += bytes;
        }
        if *done.lock().unwrap() > 1000 {
            std::ops::ControlFlow::Break(())
        } else {
            std::ops::ControlFlow::Continue(())
        }
    });
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(target.get_all(&Key::new(JOURNAL).unwrap()).unwrap().unwrap().len() < 64 << 10);
    let counts = Mutex::new((0, 0));
    plan(&store, options.resume(true))
        .run(&target, |event| match event {
            Progress::Skipped(_) => counts.lock().unwrap().0 += 1,
            Progress::MoreSkipped(more) => counts.lock().unwrap().1 += more,
            _ => {}
        })
        .unwrap();
    let (listed, more) = counts.into_inner().unwrap();
    assert!(listed > 500 && more > 500 && listed + more >= 1500, "{listed} and {more}");
    assert!(listed + more < 1700, "what was known before is counted once: {listed} and {more}");
}

#[test]
fn a_move_leaves_nothing_out() {
    let source = broken(Dialect::V3);
    let options = ConvertOptions::default().keep_going(true);
    let target = memory();
    let conversion = Conversion::plan_copy(&source, "/a", &target, "/b", &zarr::registry::default(), options).unwrap();
    let error = conversion.run_move(&target, |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(contents(&target).is_empty());
}
