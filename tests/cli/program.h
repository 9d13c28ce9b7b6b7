// Runs the real binary ($SLIPWAY_BINARY) as a user would: arguments in, exit code and both outputs back, signals on the way.
// Every test has a folder of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace slipway::cli {

struct Ended {
  int code = -1;  // 128 + signal when killed
  std::string out;
  std::string err;
};

/// Looks until `holds`. The bound only ends a broken run.
inline bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 60'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return false;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A started program.
class Program {
 public:
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::string& input = "")
      : folder_(folder) {
    static int number = 0;
    out_ = folder_ / ("out" + std::to_string(++number));
    err_ = folder_ / ("err" + std::to_string(number));
    const auto in = folder_ / ("in" + std::to_string(number));
    std::ofstream(in) << input;
    const char* binary = std::getenv("SLIPWAY_BINARY");
    arguments.insert(arguments.begin(), binary != nullptr ? binary : SLIPWAY_BINARY_DIR "/slipway");
    std::vector<char*> argv;
    for (std::string& one : arguments) argv.push_back(one.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(open(in.c_str(), O_RDONLY), 0);
    dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    if (chdir(folder_.c_str()) != 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const { kill(pid_, number); }
  std::string output() const { return read_file(out_); }
  pid_t pid() const { return pid_; }

  /// Looks until the text is on standard output; false when the program ended without it. The bound only ends a broken run.
  bool wait_for_output(const std::string& text) {
    for (int i = 0; i < 60'000; ++i) {
      if (output().find(text) != std::string::npos) return true;
      if (waitpid(pid_, &status_, WNOHANG) == pid_) {
        pid_ = 0;
        return output().find(text) != std::string::npos;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  }

  Ended wait() {
    if (pid_ > 0) waitpid(pid_, &status_, 0);
    pid_ = 0;
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), read_file(out_), read_file(err_)};
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = 0;
  int status_ = 0;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "slipway-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ended slipway(std::vector<std::string> arguments, const std::string& input = "") {
    return Program(folder_, std::move(arguments), input).wait();
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return name;
  }
  std::string data_dir() const { return (folder_ / "data").string(); }

  std::filesystem::path folder_;
};

/// A workflow whose steps run shell commands, in process pods.
struct ShellStep {
  std::string name;
  std::string script;
  std::string dependencies = "";
  std::string more = "";
};

inline std::string shell_workflow(const std::string& name, const std::vector<ShellStep>& steps) {
  std::string text =
      "apiVersion: batch.slipway.dev/v1alpha1\nkind: Workflow\nmetadata: {name: " + name + "}\nspec:\n  steps:\n";
  for (const ShellStep& step : steps) {
    text += "    " + step.name + ":\n      dependencies: [" + step.dependencies + "]\n";
    if (!step.more.empty()) text += "      " + step.more + "\n";
    text +=
        "      jobTemplate:\n        spec:\n          backoffLimit: 0\n          template:\n            spec:\n"
        "              restartPolicy: Never\n              terminationGracePeriodSeconds: 60\n              containers:\n"
        "                - name: main\n                  image: shell\n                  command:\n                    - sh\n  "
        "                  - -c\n"
        "                    - |\n                      " +
        step.script + "\n";
  }
  return text;
}

}  // namespace slipway::cli
