//! The measurements with a server.

/// An operation on data of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    /// The name of the array or group.
    pub(super) case: &'static str,
    pub(super) operation: &'static str,
    /// The time before each answer, in milliseconds.
    pub(super) latency: u32,
    /// Bytes/s of each connection; by default as many as go.
    pub(super) bandwidth: Option<&'static str>,
    /// Whether it is measured once in each process, opening included.
    pub(super) is_cold: bool,
    pub(super) goal: Goal,
}

/// The value that the median of our times is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// Nothing.
    None,
    /// The least median of peers with their defaults, divided by ours, is at least this.
    OverPeers(f64),
    /// The median of one connection, divided by ours, is at least this.
    OverOneConnection(f64),
    /// At most this number of seconds.
    Seconds(f64),
}

impl Measurement {
    pub(super) fn name(&self) -> String {
        format!("{} at {} ms", self.short_name(), self.latency)
    }

    pub(super) fn short_name(&self) -> String {
        format!("{}:{}", self.case, self.operation)
    }

    /// Whether only this library has the operation.
    pub(super) fn is_of_ours(&self) -> bool {
        self.operation.starts_with("gap")
    }
}

const fn at(latency: u32, case: &'static str, operation: &'static str, goal: Goal) -> Measurement {
    Measurement { case, operation, latency, bandwidth: None, is_cold: false, goal }
}

/// All measurements.
const MEASUREMENTS: [Measurement; 17] = [
    at(50, "zstd", "read", Goal::OverPeers(1.5)),
    at(0, "zstd", "read", Goal::None),
    at(50, "raw", "read", Goal::OverPeers(1.5)),
    at(0, "raw", "read", Goal::None),
    at(50, "shards", "read", Goal::OverPeers(1.3)),
    at(0, "shards", "read", Goal::None),
    at(50, "small", "read", Goal::OverPeers(4.0)),
    at(0, "small", "read", Goal::None),
    Measurement { bandwidth: Some("60M"), ..at(50, "one", "read", Goal::OverOneConnection(3.0)) },
    at(50, "arrays", "list", Goal::Seconds(3.0)),
    at(0, "arrays", "list", Goal::None),
    at(50, "consolidated", "list", Goal::None),
    at(0, "consolidated", "list", Goal::None),
    Measurement { is_cold: true, ..at(50, "shards", "open", Goal::None) },
    Measurement { is_cold: true, ..at(50, "shards", "point", Goal::None) },
    at(50, "zstd", "gap_current_thread", Goal::Seconds(0.020)),
    at(50, "zstd", "gap_multi_thread", Goal::Seconds(0.020)),
];

/// The measurements with these names, at each latency; all, if there are none.
pub(super) fn chosen(names: &[String]) -> Result<Vec<Measurement>, String> {
    if let Some(name) = names.iter().find(|name| MEASUREMENTS.iter().all(|it| it.short_name() != **name)) {
        return Err(format!("no measurement {name:?} with --remote"));
    }
    Ok(MEASUREMENTS.into_iter().filter(|it| names.is_empty() || names.contains(&it.short_name())).collect())
}
