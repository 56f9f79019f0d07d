# Formula of git-invdiff for Homebrew. The release workflow puts in what only a release knows, the repository and the
# checksum of its archive, and adds the result to the release; from there it goes into a tap.
class GitInvdiff < Formula
  desc "Shows which facts about a C program a commit changed, and which stayed"
  homepage "https://github.com/@REPOSITORY@"
  url "https://github.com/@REPOSITORY@/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "rust" => :build
  depends_on "z3"

  def install
    system "cargo", "install", *std_cargo_args
    system bin/"git-invdiff", "--quiet", "man", man1
    generate_completions_from_executable(bin/"git-invdiff", "completions")
  end

  test do
    assert_match "3 churns in 2 of 2 changed functions", shell_output("git invdiff --no-pager demo")
  end
end
