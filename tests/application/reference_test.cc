// docs/definitions.md is what `slipway def gen-docs` writes. SLIPWAY_UPDATE=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "delivery/application/definition.h"
#include "delivery/application/definition_commands.h"

namespace slipway::delivery::application {
namespace {

TEST(DefinitionReference, is_checked_in_as_the_definitions_are_now) {
  const std::string path = SLIPWAY_SOURCE_DIR "/docs/definitions.md";
  const std::string now = definitions_reference(builtin_definitions());
  if (const char* update = std::getenv("SLIPWAY_UPDATE"); update != nullptr && std::string(update) == "1") {
    std::ofstream(path) << now;
  }
  std::ifstream in(path);
  const std::string stored(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(stored == now) << "docs/definitions.md is of older definitions: run `slipway def gen-docs > docs/definitions.md`";
}

TEST(DefinitionReference, names_each_definition_once_in_its_chapter) {
  const std::string text = definitions_reference(builtin_definitions());
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("\n### "), builtin_definitions().size());
  EXPECT_EQ(count("\n### webservice\n"), 1U);
  EXPECT_LT(text.find("\n### webservice\n"), text.find("\n## Traits\n"));
  EXPECT_GT(text.find("\n### deploy\n"), text.find("\n## Workflow steps\n"));
  EXPECT_TRUE(text.contains("| `replicas` | `*1 \\| int` | no |"));
}

}  // namespace
}  // namespace slipway::delivery::application
