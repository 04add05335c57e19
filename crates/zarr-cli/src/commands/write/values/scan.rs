//! Text that is read byte by byte, with the place that is reached.

use crate::failure::{Failure, Result};
use crate::number;
use std::io::{ErrorKind, Read};

/// The bytes that are in memory.
const BUFFER: usize = 64 << 10;

/// A text that is read once, from its beginning.
pub(super) struct Scanner<'a> {
    name: &'a str,
    input: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Rest of the buffer.
    at: usize,
    end: usize,
    /// Bytes before the buffer.
    before: u64,
    /// The line that is reached, from 1, and the offset of its first byte.
    line: u64,
    line_start: u64,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(name: &'a str, input: &'a mut dyn Read) -> Self {
        Self { name, input, buffer: vec![0; BUFFER], at: 0, end: 0, before: 0, line: 1, line_start: 0 }
    }

    /// The next byte, which stays; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.end {
            self.before += self.end as u64;
            (self.at, self.end) = (0, 0);
            self.end = loop {
                match self.input.read(&mut self.buffer) {
                    Ok(count) => break count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(Failure::input(self.name, &error)),
                }
            };
        }
        Ok(self.buffer.get(self.at).filter(|_| self.at < self.end).copied())
    }

    /// Takes the byte that [`peek`](Self::peek) gave.
    pub(super) fn pass(&mut self) {
        if self.buffer.get(self.at) == Some(&b'\n') {
            self.line += 1;
            self.line_start = self.offset() + 1;
        }
        self.at += 1;
    }

    /// The next byte, which is taken.
    pub(super) fn next(&mut self) -> Result<Option<u8>> {
        let next = self.peek()?;
        if next.is_some() {
            self.pass();
        }
        Ok(next)
    }

    /// Bytes that were taken.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The place that is reached: the line and the column, both from 1.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.line, self.offset() - self.line_start + 1)
    }

    /// An error at the place that is reached.
    pub(super) fn error(&self, what: &str) -> Failure {
        self.error_at(self.place(), what)
    }

    /// An error at a place.
    pub(super) fn error_at(&self, (line, column): (u64, u64), what: &str) -> Failure {
        self.broken(&format!("line {line}, column {column}: {what}"))
    }

    /// An error of the text.
    pub(super) fn broken(&self, what: &str) -> Failure {
        Failure::data("invalid-metadata", format!("{}: {what}", self.name))
    }
}

/// Takes another byte of the text of one element, of which there may be `most`.
pub(super) fn add(text: &mut Vec<u8>, byte: u8, most: usize) -> Result<(), String> {
    if text.len() >= most {
        return Err(format!("found more than {} bytes of text for one element", number::grouped(most as u64)));
    }
    text.push(byte);
    Ok(())
}
