//! The benchmark process of this library: `zarr-bench CASE OP PATH` as `zarr-bench-protocol` says, `zarr-bench make DIRECTORY
//! whole|small` makes the data (`zarr-bench make-remote` that of a server). `remote` has further operations.

mod cases;
mod datasets;
mod endpoint;
mod kinds;
mod library;
mod make;
mod noise;
mod remote;
mod tables;

use zarr_bench_protocol::Failure;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["make", directory, size] => make::make(directory.as_ref(), *size == "small"),
        ["make-remote", directory, size] => remote::make(directory.as_ref(), *size == "small"),
        [_, "one_connection", address] => remote::one_connection(address),
        [_, operation @ ("gap_current_thread" | "gap_multi_thread"), address] => {
            remote::gap(address, *operation == "gap_multi_thread")
        }
        _ => zarr_bench_protocol::run(&library::Ours),
    }
}
