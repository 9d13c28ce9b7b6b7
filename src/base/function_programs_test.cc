#include "base/function_programs.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway {
namespace {

TEST(FunctionPrograms, answers_as_a_machine_with_these_programs) {
  ManualEnv env;
  FunctionPrograms programs;
  programs.add("twice", [](const ProgramCall& call) -> Result<ProgramEnd> {
    return ProgramEnd{.code = 0, .output = call.input + call.input, .error = ""};
  });
  const auto end = env.run(programs.run({.name = "twice", .input = "ab"}));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "abab");
  EXPECT_EQ(programs.calls().size(), 1u);
  const auto missing = env.run(programs.run({.name = "helm"}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::NotFound);
  EXPECT_EQ(missing.error().message, "exec: \"helm\": executable file not found in $PATH");
}

}  // namespace
}  // namespace slipway
