//! Instruction sets, and which of them the processor has.

use std::sync::LazyLock;

/// An instruction set that this machine has; the kernels are its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isa(pub(crate) Set);

/// Instruction sets, from the least to the best. There is a value of [`Isa`] only for sets that the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    /// Plain loops, as the compiler translates them.
    Portable,
    /// 16 bytes at once; each x86-64 has it.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// 32 bytes at once.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64 bytes at once, and matrices of bits: AVX-512 F, BW and VBMI with GFNI (Intel since Ice Lake, AMD since Zen 4).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The variable that names the best set to be used.
const VARIABLE: &str = "ZARR_ISA";

static BEST: LazyLock<Isa> = LazyLock::new(|| {
    let most = std::env::var(VARIABLE).ok();
    let within = |isa: &Isa| isa.name() == most.as_deref().unwrap_or_default();
    let most = Isa::available().find(within).or(Isa::available().last());
    most.unwrap_or(Isa(Set::Portable))
});

impl Isa {
    /// The best set that this machine has and that the environment lets through.
    pub fn best() -> Self {
        *BEST
    }

    /// All that this machine has, from the least to the best.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = [
            Some(Set::Sse2),
            is_x86_feature_detected!("avx2").then_some(Set::Avx2),
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("gfni"))
            .then_some(Set::Avx512),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let wide: [Option<Set>; 0] = [];
        std::iter::once(Set::Portable).chain(wide.into_iter().flatten()).map(Self)
    }

    /// Its name in the environment variable.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Sse2 => "sse2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_there() {
        assert!(Isa::available().any(|isa| isa == Isa::best()));
        assert!(Isa::available().is_sorted());
        assert_eq!(Isa::available().next().map(Isa::name), Some("portable"));
    }
}
