//! Scanner of text byte by byte, which knows the current line and column.

use crate::failure::{Failure, Result};
use crate::number;
use std::io::{ErrorKind, Read};

/// Size of the buffer in bytes.
const BUFFER: usize = 64 << 10;

/// Scanner of text that is read once, from its beginning.
pub(super) struct Scanner<'a> {
    name: &'a str,
    input: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Index in the buffer of the next byte; the buffer ends at `end`.
    at: usize,
    end: usize,
    /// Number of bytes of the text before the buffer.
    before: u64,
    /// Number of the current line, from 1.
    line: u64,
    /// Offset in the text of the first byte of the current line.
    line_start: u64,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(name: &'a str, input: &'a mut dyn Read) -> Self {
        Self { name, input, buffer: vec![0; BUFFER], at: 0, end: 0, before: 0, line: 1, line_start: 0 }
    }

    /// Returns the next byte without consuming it; `None` at the end.
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

    /// Consumes the byte that [`peek`](Self::peek) returned.
    pub(super) fn pass(&mut self) {
        if self.buffer.get(self.at) == Some(&b'\n') {
            self.line += 1;
            self.line_start = self.offset() + 1;
        }
        self.at += 1;
    }

    /// Consumes and returns the next byte; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<u8>> {
        let next = self.peek()?;
        if next.is_some() {
            self.pass();
        }
        Ok(next)
    }

    /// Returns the number of consumed bytes.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns the current line and column, both from 1.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.line, self.offset() - self.line_start + 1)
    }

    /// Returns an error at the current line and column.
    pub(super) fn error(&self, what: &str) -> Failure {
        self.error_at(self.place(), what)
    }

    /// Returns an error at a line and column.
    pub(super) fn error_at(&self, (line, column): (u64, u64), what: &str) -> Failure {
        self.broken(&format!("line {line}, column {column}: {what}"))
    }

    /// Returns an error about the text as a whole.
    pub(super) fn broken(&self, what: &str) -> Failure {
        Failure::data("invalid-metadata", format!("{}: {what}", self.name))
    }
}

/// Appends a byte to the text of an element, which may have at most `most` bytes.
pub(super) fn add(text: &mut Vec<u8>, byte: u8, most: usize) -> Result<(), String> {
    if text.len() >= most {
        return Err(format!("found more than {} bytes of text for one element", number::grouped(most as u64)));
    }
    text.push(byte);
    Ok(())
}
