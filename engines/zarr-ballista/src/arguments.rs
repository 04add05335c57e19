//! Arguments of the program.

/// Text for people who ask how the program is used.
pub(crate) const HELP: &str = "\
usage: zarr-ballista scheduler [--listen HOST:PORT] [--timeout SECONDS]
       zarr-ballista executor --scheduler HOST:PORT [--listen HOST:PORT] [--name HOST] [--cores N] [--work-dir FOLDER]
       zarr-ballista sql [--scheduler HOST:PORT] [--partitions N] [--table NAME[:VARIABLE,..]=ADDRESS].. SQL..

scheduler  plans queries and gives tasks to executors. If an executor is silent for --timeout seconds (more than 5, by default 20),
           others do its tasks. The scheduler listens at 127.0.0.1:50050 by default.
executor   does tasks. Others read its results at --listen (by default 127.0.0.1:50051), by the name --name. Results are kept in
           --work-dir (by default a new folder). --cores is the number of tasks at a time (by default that of processors).
sql        prints the rows of queries over tables, which all processes open by their address. Without --scheduler this process
           does all of it.";

/// Address that a process listens at.
#[derive(Debug)]
pub(crate) struct Listen {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Listen {
    /// Parses `HOST:PORT`.
    ///
    /// # Errors
    /// Another form, with what was found.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let parts = parts.filter(|(host, _): &(&str, u16)| !host.is_empty() && !host.contains([':', '[', ']']));
        let (host, port) =
            parts.ok_or_else(|| format!("found {text}, expected HOST:PORT, a name or an address of IPv4"))?;
        Ok(Self { host: host.to_owned(), port })
    }
}

/// Words behind the verb that were not looked at yet.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// Options with their values.
    options: Vec<(String, String)>,
    rest: Vec<String>,
}

impl Arguments {
    /// Divides words into options and others.
    ///
    /// # Errors
    /// An option without a value.
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut options, mut rest) = (Vec::new(), Vec::new());
        let mut words = words;
        while let Some(word) = words.next() {
            match word.starts_with("--") {
                true => {
                    let value = words.next().ok_or_else(|| format!("found {word} without a value"))?;
                    options.push((word, value));
                }
                false => rest.push(word),
            }
        }
        Ok(Self { options, rest })
    }

    /// Takes the first value of an option.
    pub(crate) fn value(&mut self, name: &str) -> Option<String> {
        let place = self.options.iter().position(|(option, _)| option == name)?;
        Some(self.options.remove(place).1)
    }

    /// Takes the value of an option that must be there.
    ///
    /// # Errors
    /// Its absence.
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, String> {
        self.value(name).ok_or_else(|| format!("found no {name}, expected it with a value"))
    }

    /// Takes the value of an option that is a number.
    ///
    /// # Errors
    /// A value that is none.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let number = |text: String| text.parse().map_err(|_| format!("{name}: found {text}, expected a number"));
        self.value(name).map(number).transpose()
    }

    /// Takes the words that are no options.
    ///
    /// # Errors
    /// Options that nobody took.
    pub(crate) fn rest(self) -> Result<Vec<String>, String> {
        match self.options.first() {
            Some((name, _)) => Err(format!("found {name}, which is unknown here or there twice\n{HELP}")),
            None => Ok(self.rest),
        }
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// A word or an option that nobody took.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.rest()?.first() {
            Some(word) => Err(format!("found {word}, expected options")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Result<Arguments, String> {
        Arguments::new(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn options_are_taken_one_by_one() {
        let mut found = arguments(&["--table", "a=1", "SELECT 1", "--table", "b=2", "--cores", "3"]).unwrap();
        assert_eq!(found.value("--table").as_deref(), Some("a=1"));
        assert_eq!(found.value("--table").as_deref(), Some("b=2"));
        assert_eq!(found.value("--table"), None);
        assert_eq!(found.number("--cores").unwrap(), Some(3));
        assert_eq!(found.rest().unwrap(), ["SELECT 1"]);
    }

    #[test]
    fn what_nobody_takes_is_an_error() {
        assert!(arguments(&["--cores"]).unwrap_err().contains("--cores without a value"));
        assert!(arguments(&["--core", "1"]).unwrap().rest().unwrap_err().contains("--core"));
        assert!(arguments(&["now"]).unwrap().end().unwrap_err().contains("found now"));
        assert!(arguments(&["--cores", "x"]).unwrap().number("--cores").unwrap_err().contains("found x"));
        assert!(arguments(&[]).unwrap().needed("--scheduler").unwrap_err().contains("--scheduler"));
        assert!(Listen::new("here").unwrap_err().contains("HOST:PORT"));
        assert!(Listen::new("[::1]:80").unwrap_err().contains("IPv4"));
        let listen = Listen::new("127.0.0.1:80").unwrap();
        assert_eq!((listen.host.as_str(), listen.port), ("127.0.0.1", 80));
        assert!(arguments(&["--cores", "1", "--cores", "2"]).unwrap().rest().unwrap_err().contains("--cores"));
    }
}
