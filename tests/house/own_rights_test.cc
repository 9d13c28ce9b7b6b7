// Where families, and the simulated Flux, use the rights of the process itself. What a controller reads or writes because a
// user's object says so it reads and writes as that user (docs/security.md); its own rights serve its own kinds, leases and
// events. Every other use stands in tools/own_rights.txt, with a reason: "path | uses | reason".
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

const fs::path kRightsRoot = SLIPWAY_SOURCE_DIR;

struct Allowed {
  int uses = 0;
  std::string reason;
};

std::map<std::string, Allowed> allowed() {
  std::map<std::string, Allowed> rows;
  std::ifstream in(kRightsRoot / "tools/own_rights.txt");
  const std::regex row(R"((\S+)\s*\|\s*(\d+)\s*\|\s*(\S.*))");
  for (std::string line; std::getline(in, line);) {
    std::smatch parts;
    if (line.empty() || line.starts_with('#')) continue;
    EXPECT_TRUE(std::regex_match(line, parts, row)) << line;
    if (parts.size() == 4) rows[parts[1]] = {std::stoi(parts[2]), parts[3]};
  }
  return rows;
}

/// The process's own client in a reconcile, on other clusters, and where a request is answered.
int uses_in(const fs::path& file, bool counts_clusters) {
  static const std::regex own(R"(\b(run|run_|reconcile_)\.client\b|\bcontext\.server\b|\btools\.own\b)");
  static const std::regex on_cluster(R"(\brun\.on\()");
  std::ifstream in(file);
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string code = line.substr(0, line.find("//"));
    for (const std::regex* one : {&own, &on_cluster}) {
      if (one == &on_cluster && !counts_clusters) continue;
      count += static_cast<int>(std::distance(std::sregex_iterator(code.begin(), code.end(), *one), std::sregex_iterator()));
    }
  }
  return count;
}

TEST(OwnRights, of_the_process_are_used_where_a_reason_says_so) {
  std::map<std::string, Allowed> rows = allowed();
  for (const char* room : {"src/delivery", "src/flux"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRightsRoot / room)) {
      const std::string path = fs::relative(entry.path(), kRightsRoot).string();
      if (entry.path().extension() != ".cc" || path.contains("_test.")) continue;
      // In the room of Applications run.on() is AppRun's, which acts as the author.
      const int uses = uses_in(entry.path(), !path.starts_with("src/delivery/application/"));
      const auto row = rows.find(path);
      if (row == rows.end()) {
        EXPECT_EQ(uses, 0) << path << ": act as the author (Reconcile::as), or say in tools/own_rights.txt why not";
        continue;
      }
      EXPECT_EQ(uses, row->second.uses) << path << ": " << row->second.reason;
      rows.erase(row);
    }
  }
  for (const auto& [path, row] : rows) ADD_FAILURE() << path << " is in tools/own_rights.txt and not in the sources";
}

}  // namespace
