class RalphSpeckit < Formula
  desc "Keeps a coding agent working until the work is really done"
  homepage "{{home}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url}}/ralph-speckit-{{version}}-macos-aarch64.tar.gz"
      sha256 "{{hash_macos_aarch64}}"
    end
    on_intel do
      url "{{url}}/ralph-speckit-{{version}}-macos-x86_64.tar.gz"
      sha256 "{{hash_macos_x86_64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{url}}/ralph-speckit-{{version}}-linux-aarch64.tar.gz"
      sha256 "{{hash_linux_aarch64}}"
    end
    on_intel do
      url "{{url}}/ralph-speckit-{{version}}-linux-x86_64.tar.gz"
      sha256 "{{hash_linux_x86_64}}"
    end
  end

  def install
    bin.install "spool", "ralph-hook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/spool.bash" => "spool"
    zsh_completion.install "completions/spool.zsh" => "_spool"
    fish_completion.install "completions/spool.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/spool --version")
    system bin/"spool", "demo", "--fast"
  end
end
