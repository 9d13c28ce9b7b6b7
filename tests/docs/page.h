// A page of docs/ for the tests that hold it to what is so: its text, its examples, and its tables that are made from the
// sources. SLIPWAY_UPDATE=1 rewrites the tables.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace slipway::docs_test {

/// A block of YAML on the page.
struct PageExample {
  std::string outcome;  // what follows "```yaml " on the fence; may be empty
  std::string text;
};

class Page {
 public:
  /// `name` is "rollout.md"; `program` the test that makes its tables.
  explicit Page(const std::string& name, std::string program = "")
      : path_(std::string(SLIPWAY_SOURCE_DIR) + "/docs/" + name), program_(std::move(program)) {}

  /// As it is now.
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  /// In the order of the page.
  std::vector<PageExample> examples() const {
    std::vector<PageExample> found;
    const std::string all = text(), fence = "```yaml";
    for (auto at = all.find(fence); at != std::string::npos; at = all.find(fence, at + 1)) {
      const auto line_end = all.find('\n', at);
      const auto close = all.find("\n```", line_end);
      std::string outcome = all.substr(at + fence.size(), line_end - at - fence.size());
      if (outcome.starts_with(' ')) outcome.erase(0, 1);
      found.push_back({std::move(outcome), all.substr(line_end + 1, close - line_end)});
    }
    return found;
  }

  /// Those that say how they end.
  std::vector<PageExample> examples_with_outcome() const {
    std::vector<PageExample> found = examples();
    std::erase_if(found, [](const PageExample& one) { return one.outcome.empty(); });
    return found;
  }

  /// EXPECTs that what stands between the comments NAME and "end of NAME" is `table`.
  void expect_table(const std::string& name, const std::string& table) const {
    const std::string begins = "<!-- " + name + ": made by " + program_ + ", SLIPWAY_UPDATE=1 rewrites them -->\n";
    const std::string all = text();
    const auto begin = all.find(begins);
    const auto end = all.find("<!-- end of " + name + " -->\n");
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << name;
    const std::string found = all.substr(begin + begins.size(), end - begin - begins.size());
    if (found != table && std::getenv("SLIPWAY_UPDATE") != nullptr) {
      std::ofstream(path_) << all.substr(0, begin) << begins << table << all.substr(end);
    }
    EXPECT_EQ(found, table);
  }

 private:
  std::string path_;
  std::string program_;
};

}  // namespace slipway::docs_test
