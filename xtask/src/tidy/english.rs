//! Rules about the English of doc comments that a program can check.

/// Words that no doc comment may begin with, since they omit its subject.
const NO_SUBJECT: [&str; 6] = ["All of", "From", "Of", "So many", "Those", "What"];

/// Words that no doc comment may have, each with better words.
const UNCLEAR: [(&str, &str); 2] = [("so many", "the number, or \"this many\""), ("texts", "strings")];

/// Adds the faults in the doc comments of a file.
pub(super) fn check(name: &str, text: &str, faults: &mut Vec<String>) {
    // The doc comment of the line before; empty between paragraphs.
    let mut before = None;
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        let comment = doc_comment(line);
        is_code = comment.is_some_and(|comment| is_code != comment.starts_with("```"));
        if let Some(comment) = comment.filter(|_| !is_code) {
            let is_paragraph = before.is_none_or(|before: &str| before.is_empty() || before.starts_with('#'));
            if is_paragraph && let Some(begin) = NO_SUBJECT.iter().find(|begin| begins_with(comment, begin)) {
                faults.push(format!(
                    "{name}:{}: a paragraph of docs begins with a noun or a verb, not with {begin:?}: {comment}",
                    number + 1
                ));
            }
            for (words, instead) in UNCLEAR.iter().filter(|(words, _)| has_words(comment, words)) {
                faults.push(format!("{name}:{}: {words:?} in a doc comment; say {instead}", number + 1));
            }
        }
        before = comment;
    }
}

/// Returns the text of a line of a doc comment; `None` for other lines.
fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!rest.starts_with('/')).then(|| rest.trim())
}

fn begins_with(comment: &str, begin: &str) -> bool {
    comment.strip_prefix(begin).is_some_and(|rest| rest.starts_with(' '))
}

fn has_words(comment: &str, words: &str) -> bool {
    let lower = comment.to_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    lower.match_indices(words).any(|(start, _)| {
        !is_letter(lower[..start].chars().next_back()) && !is_letter(lower[start + words.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    fn faults(text: &str) -> usize {
        let mut faults = Vec::new();
        check("a.rs", text, &mut faults);
        faults.len()
    }

    #[test]
    fn doc_comments_have_a_subject() {
        assert_eq!(faults("/// Of all chunks.\nfn a() {}\n"), 1);
        assert_eq!(faults("    /// What is read.\n    a: u8,\n"), 1);
        assert_eq!(
            faults("/// Elements of a chunk, from the first one to the last,\n/// What goes on is no begin.\n"),
            0
        );
        assert_eq!(faults("/// Reads.\n///\n/// # Errors\n/// Those of the store.\n"), 1);
        assert_eq!(faults("// Of a comment that is none of docs.\n//// Of a line.\n"), 0);
        assert_eq!(faults("/// Offset of the first byte.\n"), 0);
    }

    #[test]
    fn doc_comments_have_plain_words() {
        assert_eq!(faults("/// Reads so many elements.\n"), 1);
        assert_eq!(faults("/// Contexts of threads.\n"), 0);
        assert_eq!(faults("/// Keys as texts.\n"), 1);
        // Examples have words of their own.
        assert_eq!(faults("/// Reads.\n/// ```\n/// let texts = 1;\n/// ```\n"), 0);
        assert_eq!(faults("/// Reads.\n/// ```\n/// let a = 1;\n/// ```\n/// All texts.\n"), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_hook_refuses_long_and_double_subjects() {
        let file = std::env::temp_dir().join(format!("zarr-commit-message-{}", std::process::id()));
        let accepts = |message: &str| {
            std::fs::write(&file, message).expect("written");
            let hook = crate::tidy::root().join(".githooks/commit-msg");
            std::process::Command::new("sh").arg(hook).arg(&file).output().expect("sh").status.success()
        };
        assert!(accepts(
            "Read shards in one request\n\nA long body; with anything in it, however long its lines are, of course.\n"
        ));
        assert!(!accepts(&format!("Read {}\n", "shards ".repeat(12))));
        assert!(!accepts("Read shards; write chunks\n"));
        assert!(!accepts("Read shards.\n"));
        assert!(!accepts("Read shards\nand no empty line\n"));
        assert!(accepts("fixup! Read shards; write chunks\n"));
        std::fs::remove_file(&file).expect("removed");
    }
}
