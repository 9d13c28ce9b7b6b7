// docs/package.md says what is: its table of fields is made from the described structs, it names every command, its objects are
// accepted by a server, and its lines of commands have verbs that there are. SLIPWAY_UPDATE=1 rewrites the table.
#include <gtest/gtest.h>

#include <set>

#include "../docs/page.h"
#include "base/text.h"
#include "delivery/package/family.h"
#include "delivery/package/kinds.h"
#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

const docs_test::Page kPage("package.md", "package_test");

TEST(PackagePage, has_the_fields_of_the_described_structs) { kPage.expect_table("fields", field_table()); }

TEST(PackagePage, names_every_command_and_no_other) {
  const std::string text = kPage.text();
  std::set<std::string> verbs{"pkg render", "pkg tree"};  // of folders only
  for (const delivery::Command& command : family().commands) {
    EXPECT_TRUE(text.contains("slipway " + command.verb)) << command.verb;
    verbs.insert(command.verb);
  }
  for (const char* group : {"slipway pkg ", "slipway repo "}) {
    const std::string prefix = group;
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      const std::size_t word = at + prefix.size();
      const std::string named = text.substr(at + 8, text.find_first_of(" `\n|", word) - at - 8);
      const bool is_pattern = named.contains("VERB") || text.compare(word, 13, "register|list") == 0;
      EXPECT_TRUE(is_pattern || verbs.contains(named)) << named;
    }
  }
}

class PackageExamples : public PackageTest {};

TEST_F(PackageExamples, are_accepted_as_they_stand) {
  const std::map<std::string, kube::Resource> known{{kRepositoryKind.kind, kRepositories},
                                                    {kVariantSetKind.kind, kVariantSets},
                                                    {kRolloutKind.kind, kRollouts},
                                                    {kFunctionConfigKind.kind, kFunctionConfigs}};
  client::Request home;
  home.verb = client::Verb::Create;
  home.resource = {"", "v1", "namespaces"};
  home.body = json::parse_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: porch-fn-system}}").value();
  ASSERT_TRUE(call(home));
  std::size_t accepted = 0;
  for (const docs_test::PageExample& example : kPage.examples()) {
    const auto documents = json::parse_yaml_all(example.text);
    ASSERT_TRUE(documents) << documents.error().message;
    for (const json::YamlDocument& document : *documents) {
      ASSERT_TRUE(known.contains(std::string(kube::kind(document.value)))) << kube::kind(document.value);
      client::Request request;
      request.verb = client::Verb::Create;
      request.resource = known.at(std::string(kube::kind(document.value)));
      request.ns = kube::ns(document.value);
      request.body = document.value;
      request.field_validation = "Strict";
      const auto made = call(request);
      EXPECT_TRUE(made) << made.error().message;
      ++accepted;
    }
  }
  EXPECT_EQ(accepted, known.size());
}

}  // namespace
}  // namespace slipway::package_test
