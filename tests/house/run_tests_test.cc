// tools/run-tests, on a folder of small programs: what it counts, and what it says of programs that never end.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

class RunTests : public testing::Test {
 protected:
  RunTests() {
    std::string pattern = testing::TempDir() + "slipway-run-tests-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~RunTests() override { fs::remove_all(folder_); }

  /// A program in the folder, as a shell script.
  void add(const std::string& name, const std::string& script) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / name, fs::perms::owner_all);
    std::ofstream(folder_ / "tests.txt", std::ios::app) << name << "\n";
  }

  /// What tools/run-tests says about the folder.
  std::string run(const std::string& environment) {
    const std::string command = environment + " " SLIPWAY_SOURCE_DIR "/tools/run-tests " + folder_.string() + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string said;
    std::array<char, 512> piece{};
    while (fgets(piece.data(), piece.size(), pipe) != nullptr) said += piece.data();
    pclose(pipe);
    return said;
  }

  fs::path folder_;
};

constexpr const char* kThreePassed = R"(echo "[  PASSED  ] 3 tests.")";

TEST_F(RunTests, adds_up_what_the_programs_count) {
  add("good", kThreePassed);
  add("bad", "echo '[  PASSED  ] 1 test.'; echo '[  FAILED  ] 2 tests, listed below:'; exit 1");
  const std::string said = run("");
  EXPECT_TRUE(said.ends_with("\n4 passed, 2 failed\n")) << said;
}

TEST_F(RunTests, a_program_is_ended_by_the_cpu_time_it_uses) {
  add("good", kThreePassed);
  add("spins", "while :; do :; done");
  const std::string said = run("SLIPWAY_TEST_CPU_SECONDS=1");
  EXPECT_NE(said.find("spins used more than 1 s of CPU\n"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\n3 passed, 1 failed\n")) << said;
}

TEST_F(RunTests, a_program_that_waits_for_ever_is_ended_at_last) {
  add("good", kThreePassed);
  add("waits", "exec sleep 1000");
  const std::string said = run("SLIPWAY_TEST_WALL_SECONDS=1");
  EXPECT_NE(said.find("waits waited longer than 1 s\n"), std::string::npos) << said;
}

TEST_F(RunTests, tells_wall_and_cpu_time_of_each_program) {
  add("good", kThreePassed);
  const std::string said = run("");
  EXPECT_NE(said.find(" s of CPU)\n"), std::string::npos) << said;
}

}  // namespace
