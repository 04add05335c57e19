//! Encoding of pictures for terminals.

use crate::apng::png;
use crate::color_map::Rgb;
use crate::picture::Picture;
use crate::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::str::FromStr;

/// Protocol by which a terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Half block characters in colours, which work in every terminal.
    Half,
    /// Graphics protocol of kitty, which Ghostty, Konsole and WezTerm also support.
    Kitty,
    /// Inline images of iTerm2, which WezTerm and mintty also support.
    Iterm,
    /// Sixel graphics, for xterm, mlterm, foot and Windows Terminal.
    Sixel,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 4] = [Self::Half, Self::Kitty, Self::Iterm, Self::Sixel];

    /// Returns the name of the protocol: `half`, `kitty`, `iterm` or `sixel`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::Kitty => "kitty",
            Self::Iterm => "iterm",
            Self::Sixel => "sixel",
        }
    }

    /// Returns the best protocol that the terminal is known to support, judged by environment variables. Within tmux and screen, which do
    /// not pass on pictures, this is [`Half`](Self::Half).
    ///
    /// ```
    /// use zarr_view::Protocol;
    /// let environment = |name: &str| (name == "TERM").then(|| "xterm-kitty".to_owned());
    /// assert_eq!(Protocol::detect(environment), Protocol::Kitty);
    /// ```
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let of = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (term, program) = (of("TERM").unwrap_or_default(), of("TERM_PROGRAM").unwrap_or_default());
        if of("TMUX").is_some() || term.starts_with("tmux") || term.starts_with("screen") {
            return Self::Half;
        }
        if of("KITTY_WINDOW_ID").is_some() || term == "xterm-kitty" || term == "xterm-ghostty" || program == "ghostty" {
            return Self::Kitty;
        }
        match program.as_str() {
            "iTerm.app" | "WezTerm" | "mintty" => return Self::Iterm,
            _ => {}
        }
        if term.starts_with("foot")
            || term.starts_with("mlterm")
            || term.contains("sixel")
            || of("WT_SESSION").is_some()
        {
            return Self::Sixel;
        }
        Self::Half
    }

    /// Encodes a picture as the string that is sent to the terminal, at most `columns` characters wide.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the picture is too large, or for [`Half`](Self::Half), which cannot show
    /// pixels.
    pub fn encode(self, picture: &Picture, columns: usize) -> Result<String> {
        match self {
            Self::Half => Err(Error::argument("half blocks are text")),
            Self::Kitty => kitty(picture, columns),
            Self::Iterm => iterm(picture, columns),
            Self::Sixel => Ok(sixel(picture)),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == text)
            .ok_or_else(|| Error::argument(format!("found protocol {text:?}, expected half, kitty, iterm or sixel")))
    }
}

/// Greatest number of base64 bytes in each part, by the protocol.
const KITTY_PART: usize = 4096;

/// Returns the width of a picture in characters, in a terminal with characters of 10 pixels.
fn width(picture: &Picture, columns: usize) -> usize {
    picture.width().div_ceil(10).min(columns).max(1)
}

fn kitty(picture: &Picture, columns: usize) -> Result<String> {
    let data = STANDARD.encode(png(picture)?);
    let parts: Vec<&[u8]> = data.as_bytes().chunks(KITTY_PART).collect();
    let mut text = String::with_capacity(data.len() + parts.len() * 16);
    for (number, part) in parts.iter().enumerate() {
        let more = u8::from(number + 1 < parts.len());
        // Shown at once (a=T), as PNG (f=100), without an answer (q=2).
        let _ = match number {
            0 => write!(text, "\u{1b}_Ga=T,f=100,q=2,c={},m={more};", width(picture, columns)),
            _ => write!(text, "\u{1b}_Gm={more};"),
        };
        text.push_str(std::str::from_utf8(part).unwrap_or_default());
        text.push_str("\u{1b}\\");
    }
    text.push('\n');
    Ok(text)
}

fn iterm(picture: &Picture, columns: usize) -> Result<String> {
    let file = png(picture)?;
    let (size, width) = (file.len(), width(picture, columns));
    let data = STANDARD.encode(file);
    Ok(format!("\u{1b}]1337;File=inline=1;size={size};width={width};preserveAspectRatio=1:{data}\u{7}\n"))
}

/// Number of colours that terminals support for a sixel picture.
const SIXEL_COLORS: usize = 256;

fn sixel(picture: &Picture) -> String {
    let (palette, numbers) = palette(picture);
    let mut text = format!("\u{1b}P0;1;0q\"1;1;{};{}", picture.width(), picture.height());
    for (number, [r, g, b]) in palette.iter().enumerate() {
        let percent = |channel: &u8| (u32::from(*channel) * 100 + 127) / 255;
        let _ = write!(text, "#{number};2;{};{};{}", percent(r), percent(g), percent(b));
    }
    let width = picture.width();
    let mut row = vec![0_u8; width];
    for band in numbers.chunks(width * 6) {
        let mut used = vec![false; palette.len()];
        band.iter().for_each(|&number| {
            if let Some(used) = used.get_mut(usize::from(number)) {
                *used = true
            }
        });
        let colors = used.iter().enumerate().filter(|(_, used)| **used).map(|(number, _)| number);
        for (at, color) in colors.enumerate() {
            row.fill(0);
            for (bit, line) in band.chunks(width).enumerate() {
                for (cell, _) in row.iter_mut().zip(line).filter(|(_, number)| usize::from(**number) == color) {
                    *cell |= 1 << bit;
                }
            }
            let _ = write!(text, "{}#{color}", if at == 0 { "" } else { "$" });
            runs(&row, &mut text);
        }
        text.push('-');
    }
    text.push_str("\u{1b}\\\n");
    text
}

/// Appends sixels, with run-length encoding.
fn runs(row: &[u8], text: &mut String) {
    let end = row.iter().rposition(|cell| *cell != 0).map_or(0, |last| last + 1);
    let mut rest = row.get(..end).unwrap_or_default();
    while let Some(&cell) = rest.first() {
        let count = rest.iter().take_while(|other| **other == cell).count();
        let letter = char::from(b'?' + cell);
        match count {
            1..=3 => text.extend(std::iter::repeat_n(letter, count)),
            _ => {
                let _ = write!(text, "!{count}{letter}");
            }
        }
        rest = rest.get(count..).unwrap_or_default();
    }
}

/// Returns at most 256 colours, and the index of the colour of each pixel. If the picture has more colours, they are reduced to fewer
/// levels of red, green and blue.
fn palette(picture: &Picture) -> (Vec<Rgb>, Vec<u8>) {
    let fits = |drop: u32| numbered(picture, [drop; 3]).map(|colors| (colors, [drop; 3]));
    // 8 levels of red and of green and 4 of blue are 256 colours.
    let last = [5, 5, 6];
    let (colors, drop) = (0..6).find_map(fits).unwrap_or_else(|| (numbered(picture, last).unwrap_or_default(), last));
    let mut palette = vec![[0; 3]; colors.len()];
    for (color, &number) in &colors {
        if let Some(entry) = palette.get_mut(number) {
            *entry = *color;
        }
    }
    let number = |pixel: &Rgb| colors.get(&coarse(*pixel, drop)).and_then(|&number| u8::try_from(number).ok());
    (palette, picture.pixels().iter().map(|pixel| number(pixel).unwrap_or(0)).collect())
}

/// Returns the colours of a picture, reduced by `drop` bits per channel, each with its index; `None` if there are more than 256.
fn numbered(picture: &Picture, drop: [u32; 3]) -> Option<BTreeMap<Rgb, usize>> {
    let mut numbers = BTreeMap::<Rgb, usize>::new();
    for pixel in picture.pixels() {
        let next = numbers.len();
        numbers.entry(coarse(*pixel, drop)).or_insert(next);
        if numbers.len() > SIXEL_COLORS {
            return None;
        }
    }
    Some(numbers)
}

/// Returns a colour reduced by `drop` bits per channel, so that the levels still range from 0 to 255.
fn coarse(color: Rgb, drop: [u32; 3]) -> Rgb {
    let level = |channel: u8, drop: u32| {
        let last = 255_u16 >> drop;
        u8::try_from((u16::from(channel) >> drop) * 255 / last.max(1)).unwrap_or(u8::MAX)
    };
    let ([r, g, b], [dr, dg, db]) = (color, drop);
    [level(r, dr), level(g, dg), level(b, db)]
}
