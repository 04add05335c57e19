# The formula of a tap: `brew install OWNER/TAP/zarr-rs`. `cargo xtask dist recipes` fills it in.
class ZarrRs < Formula
  desc "Command for Zarr data: looks at, reads, writes, converts, checks and serves it"
  homepage "https://github.com/zarr-rs/zarr"
  version "@VERSION@"
  license all_of: [{ any_of: ["MIT", "Apache-2.0"] }, "OFL-1.1"]

  on_macos do
    on_arm do
      url "https://github.com/zarr-rs/zarr/releases/download/v@VERSION@/zarr-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 zarr-@VERSION@-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "https://github.com/zarr-rs/zarr/releases/download/v@VERSION@/zarr-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 zarr-@VERSION@-x86_64-apple-darwin.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/zarr-rs/zarr/releases/download/v@VERSION@/zarr-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 zarr-@VERSION@-aarch64-unknown-linux-musl.tar.gz@"
    end
    on_intel do
      url "https://github.com/zarr-rs/zarr/releases/download/v@VERSION@/zarr-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 zarr-@VERSION@-x86_64-unknown-linux-musl.tar.gz@"
    end
  end

  def install
    bin.install "zarr"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bash/zarr"
    zsh_completion.install "completions/zsh/_zarr"
    fish_completion.install "completions/fish/zarr.fish"
    doc.install "THIRD-PARTY.txt", "LICENSE-OFL", "zarr.cdx.json"
  end

  test do
    system bin/"zarr", "create", "x.zarr", "a", "--shape", "4", "--dtype", "i2", "--chunks", "2"
    assert_match "int16", shell_output("#{bin}/zarr info x.zarr a")
  end
end
