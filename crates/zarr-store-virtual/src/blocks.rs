//! Cache of blocks of a file, with growing read-ahead: few requests for metadata that is scattered over the file.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use zarr_store::{Bytes, Error, Result};

/// Number of bytes of a block.
const BLOCK: u64 = 64 << 10;
/// Maximum number of blocks in the cache.
const KEPT: usize = 1024;
/// Maximum number of blocks at the beginning of a remote file that stay in memory after the file was opened.
const KEPT_OPEN: u64 = 64;
/// Maximum number of blocks of a request to a local file.
const NEAR: u64 = 16;
/// Number of blocks of the first request to a remote file.
const FIRST: u64 = 4;
/// Maximum number of blocks of a request to a remote file, for reads that are not sequential: to transfer this number takes about as long
/// as one more request.
const FAR: u64 = 16;
/// Maximum number of blocks of a request to a remote file that fits into the cache, for reads that are not sequential: several small
/// requests take longer than the transfer of the whole file.
const FAR_IN_SMALL: u64 = 64;
/// Maximum number of blocks of a request to a remote file, for sequential reads.
const FOLLOWING: u64 = 256;

/// Cache of the blocks of a value (the file in its store) that were read last, for readers of files whose metadata lies anywhere in a file.
///
/// Requests grow. For a remote file each request reads about as many blocks as all requests before together, up to a maximum; if the file
/// fits into the cache, the rest of the file is read by one request as soon as half of it was read. Threads that need the same block wait
/// for one request.
#[derive(Debug)]
pub struct Blocks {
    /// Number of bytes of the whole value.
    size: u64,
    is_far: bool,
    kept: Mutex<Kept>,
    came: Condvar,
}

/// First blocks of a value, which stay in memory after the file was opened.
#[derive(Debug)]
pub struct KeptBlocks {
    size: u64,
    bytes: HashMap<u64, Bytes>,
}

impl KeptBlocks {
    /// Returns the number of bytes of the whole value.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the bytes of `range`; `None` if `range` is empty or a part of it is not in memory.
    #[must_use]
    pub fn bytes(&self, range: Range<u64>) -> Option<Bytes> {
        if range.start >= range.end || range.end > self.size {
            return None;
        }
        let (first, last) = (range.start / BLOCK, (range.end - 1) / BLOCK);
        if last - first >= self.bytes.len() as u64 {
            return None;
        }
        let mut out = Vec::with_capacity((range.end - range.start) as usize);
        for number in first..=last {
            let begin = range.start.saturating_sub(number * BLOCK) as usize;
            let end = (range.end - number * BLOCK).min(BLOCK) as usize;
            out.extend_from_slice(self.bytes.get(&number)?.get(begin..end)?);
        }
        Some(out.into())
    }
}

#[derive(Debug, Default)]
struct Kept {
    bytes: HashMap<u64, Bytes>,
    order: VecDeque<u64>,
    /// Number of blocks that all requests have read.
    got: u64,
    /// Number of blocks of the last request.
    last: u64,
    /// Ranges of block numbers whose requests are in progress.
    awaited: Vec<Range<u64>>,
}

impl Blocks {
    /// Maximum number of bytes of a read through the cache; larger reads bypass the cache.
    pub const MOST: usize = (NEAR * BLOCK) as usize;

    /// Returns the number of bytes to read from the beginning of a value when it is opened.
    #[must_use]
    pub const fn first(is_far: bool) -> u64 {
        if is_far { FIRST * BLOCK } else { BLOCK }
    }

    /// Creates the cache of a value of `size` bytes, which holds `first`, the bytes at the beginning of the value.
    #[must_use]
    pub fn new(size: u64, is_far: bool, first: &Bytes) -> Self {
        let blocks = Self { size, is_far, kept: Mutex::default(), came: Condvar::new() };
        blocks.lock().keep(0, first, size);
        blocks
    }

    /// Returns the number of bytes of the blocks in the cache, or a little more.
    #[must_use]
    pub fn cached(&self) -> u64 {
        self.lock().bytes.len() as u64 * BLOCK
    }

    /// Returns a copy of the first blocks, which is used after the file was opened.
    #[must_use]
    pub fn first_kept(&self) -> KeptBlocks {
        let kept = self.lock();
        let of_file = (0..KEPT_OPEN).filter_map(|number| Some((number, kept.bytes.get(&number)?)));
        // Copies, since a block may be a slice of a large buffer.
        let bytes = of_file.map(|(number, block)| (number, Bytes::copy_from_slice(block))).collect();
        KeptBlocks { size: self.size, bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads `range`, which lies inside the value. `get` reads the blocks that are not in the cache.
    ///
    /// # Errors
    /// The errors of `get`.
    pub fn read(&self, range: Range<u64>, get: impl Fn(Range<u64>) -> Result<Bytes>) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or_default());
        let mut from = range.start;
        while from < range.end {
            let block = self.block(from / BLOCK, &get)?;
            let begin = (from % BLOCK) as usize;
            let part = block.get(begin..).unwrap_or_default();
            let part = &part[..part.len().min((range.end - from) as usize)];
            if part.is_empty() {
                return Err(Error::Job("a block of a file lacks bytes that are asked for"));
            }
            out.extend_from_slice(part);
            from += part.len() as u64;
        }
        Ok(out)
    }

    /// Reads the blocks of `ranges` into the cache by at most one call of `get`, which takes ranges that do not touch. Waits for blocks that
    /// other threads are reading. Returns whether all blocks are in the cache afterwards: `false` if they do not fit, or if `get` or the
    /// request of another thread fails.
    pub fn read_ahead(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        get: impl Fn(&[Range<u64>]) -> Result<Vec<Bytes>>,
    ) -> bool {
        let numbers = |range: &Range<u64>| range.start / BLOCK..range.end.min(self.size).div_ceil(BLOCK);
        let mut missing = BTreeSet::new();
        let mut kept = self.lock();
        for range in ranges {
            missing.extend(numbers(&range).filter(|number| !kept.bytes.contains_key(number)).take(KEPT));
            if missing.len() + kept.bytes.len() > KEPT {
                return false;
            }
        }
        let is_awaited = |kept: &Kept, number: u64| kept.awaited.iter().any(|awaited| awaited.contains(&number));
        let mut windows: Vec<Range<u64>> = Vec::new();
        for &number in missing.iter().filter(|&&number| !is_awaited(&kept, number)) {
            match windows.last_mut() {
                Some(last)
                    if number - last.end < FAR
                        && number - last.start < FOLLOWING
                        // Blocks of others are not read again.
                        && !(last.end..number).any(|between| is_awaited(&kept, between)) =>
                {
                    last.end = number + 1;
                }
                _ => windows.push(number..number + 1),
            }
        }
        let all = windows.iter().map(|window| window.end - window.start).sum::<u64>();
        if all + kept.bytes.len() as u64 > KEPT as u64 {
            return false;
        }
        if !windows.is_empty() {
            kept.awaited.extend(windows.iter().cloned());
            drop(kept);
            let _ended: Vec<Ended<'_>> =
                windows.iter().map(|window| Ended { blocks: self, window: window.clone() }).collect();
            let bytes = |window: &Range<u64>| window.start * BLOCK..self.size.min(window.end * BLOCK);
            let Ok(got) = get(&windows.iter().map(bytes).collect::<Vec<_>>()) else { return false };
            let has_length = |(window, got): (&Range<u64>, &Bytes)| {
                let due = bytes(window);
                got.len() as u64 == due.end.saturating_sub(due.start)
            };
            if got.len() != windows.len() || !windows.iter().zip(&got).all(has_length) {
                return false;
            }
            let mut kept = self.lock();
            for (window, bytes) in windows.iter().zip(&got) {
                kept.keep(window.start, bytes, self.size);
            }
        } else {
            drop(kept);
        }
        let mut kept = self.lock();
        // Requests of other threads, which wait for none of this one any more.
        while missing.iter().any(|&number| is_awaited(&kept, number) && !kept.bytes.contains_key(&number)) {
            kept = self.came.wait(kept).unwrap_or_else(PoisonError::into_inner);
        }
        missing.iter().all(|number| kept.bytes.contains_key(number))
    }

    /// Returns whether the value is in a remote store.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.is_far
    }

    fn block(&self, number: u64, get: &impl Fn(Range<u64>) -> Result<Bytes>) -> Result<Bytes> {
        let mut kept = self.lock();
        loop {
            if let Some(block) = kept.bytes.get(&number) {
                return Ok(block.clone());
            }
            if !kept.awaited.iter().any(|awaited| awaited.contains(&number)) {
                break;
            }
            kept = self.came.wait(kept).unwrap_or_else(PoisonError::into_inner);
        }
        let window = self.window(&kept, number);
        kept.last = window.end - window.start;
        kept.awaited.push(window.clone());
        drop(kept);
        let _ended = Ended { blocks: self, window: window.clone() };
        let got = get(window.start * BLOCK..self.size.min(window.end * BLOCK))?;
        let mut kept = self.lock();
        kept.keep(window.start, &got, self.size);
        let begin = ((number - window.start) * BLOCK) as usize;
        Ok(got.slice(begin.min(got.len())..got.len().min(begin + BLOCK as usize)))
    }

    /// Returns the range of blocks to read if block `number` is needed and not in the cache.
    fn window(&self, kept: &Kept, number: u64) -> Range<u64> {
        let count = self.size.div_ceil(BLOCK);
        let is_free =
            |at: u64| !kept.bytes.contains_key(&at) && !kept.awaited.iter().any(|awaited| awaited.contains(&at));
        let free_from = |number: u64, end: u64| (number..end.min(count)).take_while(|at| is_free(*at)).count() as u64;
        let follows = number.checked_sub(1).is_some_and(|before| kept.bytes.contains_key(&before));
        if !self.is_far {
            // A further get costs less than bytes that are not needed.
            let most = if follows { (kept.last * 2).clamp(1, NEAR) } else { 1 };
            return number..number + free_from(number, number + most).max(1);
        }
        let is_small = count <= KEPT as u64;
        if is_small && kept.got * 2 >= count {
            let start = (0..number).find(|at| is_free(*at)).unwrap_or(number);
            let end = (number..count).rfind(|at| is_free(*at)).map_or(number, |last| last) + 1;
            return start..end;
        }
        let most = match (follows, is_small) {
            (true, _) => (kept.last * 2).clamp(FIRST, FOLLOWING),
            (false, true) => kept.got.clamp(FIRST, FAR_IN_SMALL),
            (false, false) => kept.got.clamp(FIRST, FAR),
        };
        // Blocks before `number` are as likely to be needed as blocks after it.
        let start = if follows { number } else { number - number % most };
        let before = (start..number).rev().take_while(|at| is_free(*at)).count() as u64;
        number - before..number + free_from(number, start + most).max(1)
    }
}

impl Kept {
    /// Adds the blocks of `bytes` to the cache, the first of which has the number `first`. `size` is the number of bytes of the value: only
    /// the last block of the value may be short.
    fn keep(&mut self, first: u64, bytes: &Bytes, size: u64) {
        for (number, begin) in (first..).zip((0..bytes.len()).step_by(BLOCK as usize)) {
            let end = bytes.len().min(begin + BLOCK as usize);
            if end - begin < BLOCK as usize && number * BLOCK + ((end - begin) as u64) < size {
                break;
            }
            self.got += 1;
            if self.bytes.insert(number, bytes.slice(begin..end)).is_none() {
                self.order.push_back(number);
            }
        }
        while self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes.remove(&oldest);
        }
    }
}

/// Guard that ends a request, also a failed one, and wakes the threads that wait for its blocks.
struct Ended<'b> {
    blocks: &'b Blocks,
    window: Range<u64>,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.blocks.lock().awaited.retain(|awaited| *awaited != self.window);
        self.blocks.came.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn bytes(size: u64) -> Vec<u8> {
        (0..size).map(|at| (at / 7 + at / BLOCK) as u8).collect()
    }

    fn range(bytes: &[u8], range: &Range<u64>) -> Bytes {
        Bytes::copy_from_slice(&bytes[range.start as usize..range.end as usize])
    }

    #[test]
    fn reads_are_those_of_the_value() {
        for (size, is_far) in
            [(0, true), (10, true), (10, false), (700_000, false), (9_000_000, true), (80_000_000, true)]
        {
            let value = bytes(size);
            let first = range(&value, &(0..size.min(Blocks::first(is_far))));
            let blocks = Blocks::new(size, is_far, &first);
            let got = RefCell::new(Vec::new());
            let get = |asked: Range<u64>| {
                assert!(asked.start < asked.end && asked.end <= size, "{asked:?} of {size}");
                got.borrow_mut().push(asked.clone());
                Ok(range(&value, &asked))
            };
            let mut at = 1_u64;
            for step in 0..200 {
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let start = if size == 0 { 0 } else { (at >> 8) % size };
                let asked = start..size.min(start + (at >> 9) % 100_000);
                assert_eq!(blocks.read(asked.clone(), get).expect("bytes"), range(&value, &asked), "{asked:?}");
                if step % 20 == 0 {
                    let ahead: Vec<_> = (1..5).map(|by| (start / by)..size.min(start / by + 5000)).collect();
                    let get = |asked: &[Range<u64>]| asked.iter().cloned().map(get).collect();
                    blocks.read_ahead(ahead.into_iter(), get);
                }
                assert!(blocks.lock().bytes.len() <= KEPT);
            }
            if is_far && size < KEPT as u64 * BLOCK {
                // Each get is for as much as all before it.
                assert!(got.borrow().len() <= 10, "{} gets of {size}", got.borrow().len());
            }
        }
    }

    #[test]
    fn threads_wait_for_one_get_of_a_block() {
        let (value, gets) = (bytes(1 << 20), AtomicUsize::new(0));
        let blocks = Blocks::new(1 << 20, true, &range(&value, &(0..BLOCK)));
        let begin = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    begin.wait();
                    let asked = 300_000..300_010;
                    let read = blocks.read(asked.clone(), |asked| {
                        gets.fetch_add(1, Ordering::Relaxed);
                        std::thread::yield_now();
                        Ok(range(&value, &asked))
                    });
                    assert_eq!(read.expect("bytes"), range(&value, &asked));
                });
            }
        });
        assert_eq!(gets.into_inner(), 1);
    }

    #[test]
    fn other_blocks_are_read_while_a_read_ahead_waits() {
        let value = bytes(1 << 20);
        let blocks = Blocks::new(1 << 20, true, &range(&value, &(0..BLOCK)));
        let (asked, was_asked) = std::sync::mpsc::channel();
        let (read, was_read) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let (blocks, value) = (&blocks, &value);
            scope.spawn(move || {
                let get = |ranges: &[Range<u64>]| {
                    asked.send(()).expect("the other thread");
                    // A lock that is held meanwhile would keep the other thread from reading.
                    let waited = was_read.recv_timeout(std::time::Duration::from_secs(60));
                    waited.map_err(|_| Error::Job("no other thread has read"))?;
                    Ok(ranges.iter().map(|asked| range(value, asked)).collect())
                };
                assert!(blocks.read_ahead(std::iter::once(300_000..500_000), get));
            });
            was_asked.recv().expect("a get");
            for asked in [10..20, 900_000..900_010] {
                let got = blocks.read(asked.clone(), |asked| Ok(range(value, &asked)));
                assert_eq!(got.expect("bytes"), range(value, &asked));
            }
            read.send(()).expect("the thread that reads ahead");
            // Blocks of that thread are waited for.
            let got = blocks.read(400_000..400_010, |_| Err(Error::Job("a second get")));
            assert_eq!(got.expect("bytes"), range(value, &(400_000..400_010)));
            assert!(blocks.read_ahead(std::iter::once(300_000..500_000), |_| Err(Error::Job("a second get"))));
        });
    }

    #[test]
    fn a_read_ahead_neither_repeats_nor_survives_the_request_of_another_thread() {
        let value = bytes(1 << 20);
        for fails in [true, false] {
            let blocks = Blocks::new(1 << 20, true, &range(&value, &(0..BLOCK)));
            let (asked, was_asked) = std::sync::mpsc::channel();
            let (go, goes) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                let (blocks, value) = (&blocks, &value);
                scope.spawn(move || {
                    let read = blocks.read_ahead(std::iter::once(6 * BLOCK..7 * BLOCK), |ranges| {
                        asked.send(()).expect("the other thread");
                        let _ = goes.recv_timeout(std::time::Duration::from_secs(60));
                        match fails {
                            true => Err(Error::Job("a failure")),
                            false => Ok(ranges.iter().map(|asked| range(value, asked)).collect()),
                        }
                    });
                    assert_eq!(read, !fails);
                });
                was_asked.recv().expect("a get");
                let got = Mutex::new(Vec::new());
                let both = [5 * BLOCK..6 * BLOCK, 6 * BLOCK..7 * BLOCK, 8 * BLOCK..9 * BLOCK];
                let read = blocks.read_ahead(both.into_iter(), |ranges| {
                    got.lock().expect("a lock").extend(ranges.iter().map(|asked| asked.start / BLOCK));
                    go.send(()).expect("the thread that reads ahead");
                    Ok(ranges.iter().map(|asked| range(value, asked)).collect())
                });
                assert_eq!(read, !fails);
                // Block 6 is that of the other thread.
                let got = got.into_inner().expect("a lock");
                assert_eq!(got, [5, 8]);
            });
        }
    }

    #[test]
    fn a_get_that_failed_is_made_again() {
        let value = bytes(1 << 20);
        let blocks = Blocks::new(1 << 20, true, &range(&value, &(0..BLOCK)));
        let failed = blocks.read(300_000..300_010, |_| Err(Error::Job("a failure")));
        assert!(matches!(failed, Err(Error::Job("a failure"))));
        assert_eq!(blocks.read(300_000..300_010, |asked| Ok(range(&value, &asked))).expect("bytes").len(), 10);
    }
}
