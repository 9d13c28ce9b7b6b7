// `slipway pkg …` against a server: what the client itself refuses and tells.
#include "delivery/package/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using delivery::Command;
using delivery::CommandAnswer;
using delivery::CommandCall;

class PackageCommands : public PackageTest {
 public:
  Result<CommandAnswer> run(const std::string& verb, std::vector<std::string> words,
                            std::map<std::string, std::string> options = {}) {
    const std::vector<Command> all = commands();
    const auto command = std::ranges::find(all, verb, &Command::verb);
    CommandCall call{.env = env_->env(),
                     .client = &slipway_->server(),
                     .ns = "default",
                     .words = std::move(words),
                     .objects = {},
                     .options = std::move(options)};
    return env_->run(command->run(std::move(call)));
  }
  static std::string said(const Result<CommandAnswer>& answer) {
    if (!answer) return fmt::format("{}: {}", to_string(answer.error().reason), answer.error().message);
    return fmt::format("{}{}", answer->text, fmt::join(answer->notes, "\n"));
  }
};

const std::string kBytes("\x00\xff\xfe\x80", 4);

TEST_F(PackageCommands, files_that_are_no_text_are_refused_by_name_and_named_when_left_out) {
  Repository& blueprints = repository("bp");
  const std::string name = init("bp", "bn", "v1");
  env_->env().files.write("/r.bin", kBytes, 0644).value();
  EXPECT_TRUE(said(run("pkg edit", {name}, {{"file", "r.bin=/r.bin"}})).starts_with("BadRequest: \"r.bin\" is not UTF-8"));
  EXPECT_EQ(blueprints.file("bn/r.bin", "drafts/bn/v1"), "");
  advance(seconds{1});
  blueprints.commit({{"bn/r.bin", kBytes}}, "by git", "drafts/bn/v1");
  ASSERT_TRUE(until([&] { return said(run("pkg pull", {name})).contains("r.bin"); }));
  const std::string pulled = said(run("pkg pull", {name, "/pulled"}));
  EXPECT_TRUE(pulled.contains("not shown, as they are no text, and kept as they are: r.bin")) << pulled;
  env_->env().files.write("/pulled/r.bin", kBytes, 0644).value();
  EXPECT_TRUE(said(run("pkg push", {name, "/pulled"})).starts_with("BadRequest: \"r.bin\" is not UTF-8"));
  EXPECT_EQ(blueprints.file("bn/r.bin", "drafts/bn/v1"), kBytes);
}

}  // namespace
}  // namespace slipway::package_test
