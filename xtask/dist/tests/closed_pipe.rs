//! Output that nobody reads to its end: `cargo xtask dist help | head`.

use std::process::{Command, Stdio};

#[test]
fn help_ends_quietly_where_nobody_reads_it() -> std::io::Result<()> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr-dist"));
    let ended = command.arg("help").stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output()?;
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
    Ok(())
}
