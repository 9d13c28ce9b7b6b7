// For tests: a bare repository in a folder of its own, made and changed by the git program, which knows nothing of libgit2.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/check.h"

namespace slipway::git {

/// A folder below /tmp that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/slipway-git-XXXXXX";
    const char* made = mkdtemp(name);
    SLIPWAY_CHECK(made != nullptr, "no temporary folder");
    path_ = made;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// What a shell command printed, both streams; aborts when it fails.
inline std::string shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  SLIPWAY_CHECK(pipe != nullptr, command);
  std::string text;
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  SLIPWAY_CHECK(pclose(pipe) == 0, command + "\n" + text);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The git program, without any configuration but what a test gives.
inline std::string git_program(const std::string& folder, const std::string& arguments) {
  return shell(
      "env -i PATH=/usr/bin:/bin HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ann "
      "GIT_AUTHOR_EMAIL=ann@example.org GIT_AUTHOR_DATE='1767225600 +0100' GIT_COMMITTER_NAME=Ann "
      "GIT_COMMITTER_EMAIL=ann@example.org GIT_COMMITTER_DATE='1767225600 +0100' git -C '" +
      folder + "' -c init.defaultBranch=main -c safe.directory='*' " + arguments);
}

class TestRepository {
 public:
  using Files = std::map<std::string, std::string>;

  TestRepository() {
    git_program(folder_.path(), "init -q --bare remote.git");
    git_program(folder_.path(), "clone -q remote.git work");
    git("commit -q --allow-empty -m root");
    git("push -q origin HEAD:main");
  }

  /// The bare one.
  std::string path() const { return folder_ / "remote.git"; }
  const TemporaryFolder& folder() const { return folder_; }
  /// In the working copy of the "other people".
  std::string git(const std::string& arguments) const { return git_program(folder_ / "work", arguments); }
  /// In the bare one.
  std::string bare(const std::string& arguments) const { return git_program(path(), arguments); }

  /// A person commits to a branch, on top of what the remote has, and pushes; gives the id.
  std::string commit(const Files& files, const std::string& message, const std::string& branch = "main") const {
    git("fetch -q origin");
    git("checkout -q -B " + branch + " origin/" + branch);
    for (const auto& [name, content] : files) {
      const std::filesystem::path file = std::filesystem::path(folder_ / "work") / name;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << content;
    }
    git("add -A");
    std::ofstream(folder_ / "message") << message;
    git("commit -q --allow-empty -F ../message");
    git("push -q origin " + branch);
    return git("rev-parse HEAD");
  }
  std::string tip(const std::string& ref = "main") const { return bare("rev-parse --verify -q " + ref); }
  std::string show(const std::string& ref, const std::string& path) const { return bare("show " + ref + ":" + path); }

 private:
  TemporaryFolder folder_;
};

}  // namespace slipway::git
