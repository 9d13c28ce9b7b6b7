// `slipway completion`: the scripts are evaluated by the shells that are here.
#include "program.h"

namespace slipway::cli {
namespace {

class Completion : public CommandLine {
 public:
  /// What bash offers for the words, the last of which is begun.
  std::string offered(const std::string& words, int index) {
    const Ended script = slipway({"completion", "bash"});
    EXPECT_EQ(script.code, 0) << script.err;
    write("script", script.out + "COMP_WORDS=(" + words + ")\nCOMP_CWORD=" + std::to_string(index) +
                        "\n_slipway\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const std::string out = (folder_ / "offered").string();
    EXPECT_EQ(std::system(("bash " + (folder_ / "script").string() + " > " + out).c_str()), 0);
    return read_file(out);
  }
};

TEST_F(Completion, bash_offers_commands_and_actions_of_families) {
  EXPECT_EQ(offered("slipway re", 1), "render\nrepo\nrerun\nrevision\n");
  EXPECT_EQ(offered("slipway comp", 1), "completion\n");
}

TEST_F(Completion, bash_offers_kinds_where_an_object_is_named) {
  EXPECT_EQ(offered("slipway describe workf", 2),
            "workflowruns\nworkflows.batch.slipway.dev\nworkflows.core.oam.dev\nworkflowstepdefinitions\nworkflowstepsets\n");
  EXPECT_EQ(offered("slipway get configm", 2), "configmaps\n");
  EXPECT_EQ(offered("slipway run workf", 2), "\n");
}

TEST_F(Completion, zsh_and_fish_have_scripts_and_no_other_shell) {
  EXPECT_TRUE(slipway({"completion", "zsh"}).out.starts_with("#compdef slipway\n"));
  EXPECT_TRUE(slipway({"completion", "fish"}).out.starts_with("complete -c slipway "));
  EXPECT_EQ(slipway({"completion", "tcsh"}).code, 2);
}

}  // namespace
}  // namespace slipway::cli
