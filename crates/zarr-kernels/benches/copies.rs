//! The short copies of decoders (`src/output.rs`), beside a plain loop: GB/s of one thread, the best of several runs in turn, and
//! the ratio.
//!
//! `cargo bench -p zarr-kernels [PART OF A NAME]`

use std::hint::black_box;
use zarr_bench_protocol::compare;
use zarr_kernels::Output;

const SIZE: usize = 64 << 10;

fn main() {
    let input: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(73)).collect();
    let (mut ours, mut plain) = (vec![0; SIZE], vec![0; SIZE]);
    for count in [4, 12, 24, 100] {
        let times = SIZE / count - 1;
        compare(
            &format!("literals, {count} bytes"),
            times * count,
            || {
                let mut out = Output::new(black_box(&mut ours));
                (0..times).for_each(|_| out.literals(&input, count).expect("fits"));
            },
            || {
                let mut out = black_box(&mut plain[..]).chunks_exact_mut(count);
                (0..times).for_each(|_| out.next().expect("fits").copy_from_slice(black_box(&input[..count])));
            },
        );
        for distance in [1, 3, 8, 40] {
            compare(
                &format!("repeat, {count} bytes from {distance} back"),
                times * count,
                || {
                    let mut out = Output::new(black_box(&mut ours));
                    out.literals(&input, 40).expect("fits");
                    (0..times - 40 / count).for_each(|_| out.repeat(distance, black_box(count)).expect("fits"));
                },
                || {
                    let out = black_box(&mut plain[..]);
                    out[..40].copy_from_slice(&input[..40]);
                    for at in (40..).step_by(count).take(times - 40 / count) {
                        (at..at + black_box(count)).for_each(|at| out[at] = out[at - distance]);
                    }
                },
            );
        }
    }
}
