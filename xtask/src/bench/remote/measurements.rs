//! Measurements with a server.

/// Operation on data of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    /// Name of the array or group.
    pub(super) case: &'static str,
    pub(super) operation: &'static str,
    /// Delay of each answer, in milliseconds.
    pub(super) latency: u32,
    /// Bandwidth of each connection in bytes/s; `None` for no limit.
    pub(super) bandwidth: Option<&'static str>,
    /// Whether each process measures only once, including opening.
    pub(super) is_cold: bool,
    pub(super) goal: Goal,
}

/// Value with which the median of the times of this library is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// No comparison.
    None,
    /// Least ratio of the least median of peers with their defaults to the median of this library.
    OverPeers(f64),
    /// Least ratio of the median with one connection to the median of this library.
    OverOneConnection(f64),
    /// Greatest number of seconds.
    Seconds(f64),
}

impl Measurement {
    pub(super) fn name(&self) -> String {
        format!("{} at {} ms", self.short_name(), self.latency)
    }

    pub(super) fn short_name(&self) -> String {
        format!("{}:{}", self.case, self.operation)
    }

    /// Returns whether only this library has the operation.
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

/// Returns the measurements with these names, at each latency; all, if `names` is empty.
pub(super) fn chosen(names: &[String]) -> Result<Vec<Measurement>, String> {
    if let Some(name) = names.iter().find(|name| MEASUREMENTS.iter().all(|it| it.short_name() != **name)) {
        return Err(format!("no measurement {name:?} with --remote"));
    }
    Ok(MEASUREMENTS.into_iter().filter(|it| names.is_empty() || names.contains(&it.short_name())).collect())
}
