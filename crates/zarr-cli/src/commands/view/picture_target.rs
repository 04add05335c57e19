//! Targets of pictures: a file, a terminal, a pipe.

use super::{View, picture};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::number::grouped;
use crate::output::{self, Output};
use anstyle::Style;
use std::io::IsTerminal;
use std::path::Path;
use zarr::view::{Figure, Ink, Picture, Protocol, Room};

/// Greatest width and height of the plane of a PNG by default, in pixels.
const PNG: (usize, usize) = (1024, 768);
/// Greatest width and height of the plane of an animation by default, in pixels.
const ANIMATION: (usize, usize) = (640, 480);
/// Columns and lines if there is no terminal.
const PIPE: (usize, usize) = (80, 30);
/// Approximate width and height of a character, in pixels.
const CELL: (usize, usize) = (10, 20);
/// Width and height of the space beside a plane, in pixels.
const BESIDE: (usize, usize) = (220, 160);

/// Value of `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The protocol that the terminal is known to support.
    Auto,
    /// No pictures, only characters.
    Plain,
    Protocol(Protocol),
}

/// Target of a picture: kind of output, and its size.
#[derive(Debug)]
pub(super) struct PictureTarget {
    pub(super) room: Room,
    kind: PictureTargetKind,
    columns: usize,
    lines: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum PictureTargetKind {
    File { is_stdout: bool },
    Text(Ink),
    Pixels(Protocol),
}

impl PictureTarget {
    pub(super) fn new(context: &Context, args: &View) -> Result<Self> {
        if let Some(path) = &args.output {
            let room = pixels(args, if args.animate.is_some() { ANIMATION } else { PNG })?;
            let is_stdout = path == Path::new("-");
            return Ok(Self { room, kind: PictureTargetKind::File { is_stdout }, columns: PIPE.0, lines: PIPE.1 });
        }
        let given = |length: Option<u16>, default: usize| length.map_or(default, usize::from);
        let is_terminal = std::io::stdout().is_terminal();
        let (lines, columns) = match console::Term::stdout().size_checked() {
            // A line is for the prompt.
            Some((lines, columns)) if is_terminal => (usize::from(lines).saturating_sub(1), usize::from(columns)),
            _ => (PIPE.1, PIPE.0),
        };
        let variable = |name: &str| std::env::var(name).ok();
        let has_colors = context.palette.heading != Style::new() && variable("TERM").as_deref() != Some("dumb");
        let protocol = match args.protocol.unwrap_or(Choice::Auto) {
            Choice::Protocol(protocol) => Some(protocol),
            Choice::Auto if is_terminal && has_colors => Some(Protocol::detect(variable)),
            Choice::Auto if has_colors => Some(Protocol::Half),
            Choice::Auto | Choice::Plain => None,
        };
        match protocol {
            None | Some(Protocol::Half) => {
                let ink = if protocol.is_none() { Ink::Plain } else { ink(variable, is_terminal) };
                let (columns, lines) = (given(args.width, columns), given(args.height, lines));
                Ok(Self { room: Room::text(columns, lines, ink), kind: PictureTargetKind::Text(ink), columns, lines })
            }
            Some(protocol) => {
                let default = |cells: usize, pixels: usize, beside: usize, most: usize| {
                    (cells * pixels).saturating_sub(beside).clamp(100, most)
                };
                let width = default(columns, CELL.0, BESIDE.0, PNG.0);
                let height = default(lines, CELL.1, BESIDE.1, PNG.1);
                Ok(Self {
                    room: pixels(args, (width, height))?,
                    kind: PictureTargetKind::Pixels(protocol),
                    columns,
                    lines,
                })
            }
        }
    }

    /// Returns whether a PNG is written to standard output.
    pub(super) fn is_stdout(&self) -> bool {
        self.kind == PictureTargetKind::File { is_stdout: true }
    }

    /// Prints a figure in the terminal; does nothing if the target is a file.
    pub(super) fn show(&self, figure: &Figure, args: &View) -> Result<()> {
        let text = match self.kind {
            PictureTargetKind::File { .. } => return Ok(()),
            PictureTargetKind::Text(ink) => figure.text(self.columns, self.lines, ink),
            PictureTargetKind::Pixels(_) if figure.slice.samples.is_empty() => {
                figure.text(self.columns, self.lines, Ink::Plain)
            }
            PictureTargetKind::Pixels(protocol) => protocol.encode(&picture(figure, args, self.room)?, self.columns)?,
        };
        output::print(&text)
    }
}

/// Returns the size of a picture in pixels: that of the arguments, or `default`.
fn pixels(args: &View, default: (usize, usize)) -> Result<Room> {
    let [width, height] =
        [(args.width, default.0), (args.height, default.1)].map(|(asked, default)| asked.map_or(default, usize::from));
    if width * height > Picture::MOST_PIXELS {
        let most = grouped(Picture::MOST_PIXELS as u64);
        let message = format!("--width and --height: found {width} x {height} pixels, expected at most {most}");
        return Err(Failure::usage(message));
    }
    Ok(Room::pixels(width, height))
}

/// Returns the colours that the terminal supports. For output that is no terminal, all colours are used.
fn ink(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> Ink {
    let has_all = matches!(variable("COLORTERM").as_deref(), Some("truecolor" | "24bit"));
    let term = variable("TERM").unwrap_or_default();
    if has_all || !is_terminal || cfg!(windows) || term.ends_with("-direct") { Ink::TrueColor } else { Ink::Colors256 }
}

/// Writes bytes to a file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut out = Output::open(Some(path), true)?;
    out.write(bytes)?;
    out.finish()?;
    interrupted::leaves(format!("{} is written", path.display()));
    Ok(())
}
