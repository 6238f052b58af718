# Homebrew's formula of weir, into which scripts/dist writes the version and the sums.
class Weir < Formula
  desc "Performance scenarios for inference data paths, with verdicts"
  homepage "https://github.com/weir-bench/weir"
  version "@VERSION@"
  license "Apache-2.0"

  on_linux do
    on_intel do
      url "https://github.com/weir-bench/weir/releases/download/v@VERSION@/weir_@VERSION@_linux_amd64.tar.gz"
      sha256 "@LINUX_AMD64@"
    end
    on_arm do
      url "https://github.com/weir-bench/weir/releases/download/v@VERSION@/weir_@VERSION@_linux_arm64.tar.gz"
      sha256 "@LINUX_ARM64@"
    end
  end
  on_macos do
    on_intel do
      url "https://github.com/weir-bench/weir/releases/download/v@VERSION@/weir_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@MAC_AMD64@"
    end
    on_arm do
      url "https://github.com/weir-bench/weir/releases/download/v@VERSION@/weir_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@MAC_ARM64@"
    end
  end

  def install
    bin.install "weir"
    bash_completion.install "completions/weir.bash" => "weir"
    zsh_completion.install "completions/weir.zsh" => "_weir"
    fish_completion.install "completions/weir.fish"
    man1.install Dir["man/*"]
    pkgshare.install "schemas", "examples"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/weir version")
  end
end
