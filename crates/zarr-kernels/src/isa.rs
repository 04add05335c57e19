//! Instruction sets, and which of them the processor supports.

use std::sync::LazyLock;

/// Instruction set that the processor of this machine supports; the kernels are its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isa(pub(crate) Set);

/// Instruction sets, from the least to the best. A value of [`Isa`] exists only for sets that the processor supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    /// Plain loops, as the compiler translates them.
    Portable,
    /// Registers of 16 bytes; each x86-64 processor has them.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// Registers of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Registers of 64 bytes, and products of matrices of bits: AVX-512 F, BW and VBMI with GFNI (Intel since Ice Lake, AMD since Zen 4).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Environment variable that names the best instruction set to use.
const VARIABLE: &str = "ZARR_ISA";

static BEST: LazyLock<Isa> = LazyLock::new(|| {
    let most = std::env::var(VARIABLE).ok();
    let within = |isa: &Isa| isa.name() == most.as_deref().unwrap_or_default();
    let most = Isa::available().find(within).or(Isa::available().last());
    most.unwrap_or(Isa(Set::Portable))
});

impl Isa {
    /// Returns the best instruction set that the machine supports and the environment variable `ZARR_ISA` allows.
    pub fn best() -> Self {
        *BEST
    }

    /// Returns all instruction sets that the machine supports, from the least to the best.
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

    /// Returns the name of the instruction set, as the environment variable `ZARR_ISA` has it.
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
