// Errors as people read them: words, places, and what is left out.
#include <gtest/gtest.h>

#include "base/memory_files.h"
#include "cue/load/command.h"

namespace slipway::cue::load {
namespace {

std::string told(const std::string& text, std::vector<std::string> arguments = {"vet", "-c", "x.cue"}) {
  MemoryFiles files;
  (void)files.make_folders("/w");
  (void)files.write("/w/x.cue", text, 0644);
  return run_command(files, {std::move(arguments), "/w", ""}).errors;
}

TEST(Messages, of_matchN_tell_what_each_schema_failed_with) {
  EXPECT_EQ(told("a: 5\na: matchN(2, [int, >9])\n"),
            "a: invalid value 5 (does not satisfy matchN): 1 matched, expected 2:\n"
            "    ./x.cue:2:4\n    ./x.cue:1:4\n    ./x.cue:2:11\n"
            "a: invalid value 5 (out of bound >9):\n    ./x.cue:2:20\n    ./x.cue:1:4\n");
  EXPECT_EQ(told("a: {n: 1, m: 2}\na: matchIf({n: 1}, {m: >3}, _)\n"),
            "a: invalid value {n:1,m:2} (does not satisfy matchIf): invalid value 2 (out of bound >3):\n"
            "    ./x.cue:2:4\n    ./x.cue:1:4\n    ./x.cue:1:14\n    ./x.cue:2:24\n    ./x.cue:2:29\n");
}

TEST(Messages, of_texts_say_where_in_the_text_it_is) {
  EXPECT_EQ(told("import \"encoding/json\"\na: \"{\\\"k\\\": 1}\"\na: json.Validate({k: string})\n"),
            "a: invalid value \"{\\\"k\\\": 1}\" (does not satisfy encoding/json.Validate): error in call to "
            "encoding/json.Validate: conflicting values 1 and string (mismatched types int and string):\n"
            "    ./x.cue:3:4\n    ./x.cue:2:4\n    ./x.cue:3:22\n    json.Validate:1:7\n");
}

TEST(Messages, show_structs_and_lists_as_they_are_written) {
  EXPECT_EQ(told("a: 3\na: {b?: int, \"c-d\": [...string], e: b & >1}\n"),
            "a: conflicting values 3 and {b?:int,\"c-d\":[...string],e:(b & >1)} (mismatched types int and struct):\n"
            "    ./x.cue:1:4\n    ./x.cue:2:4\n");
}

TEST(Messages, of_what_has_no_value_yet_are_in_the_words_of_who_needs_it) {
  EXPECT_EQ(told("n: int\na: n + 1\n"),
            "n: incomplete value int:\n    ./x.cue:1:4\n"
            "a: non-concrete value int in operand to +:\n    ./x.cue:2:4\n    ./x.cue:1:4\n");
  EXPECT_EQ(told("n: string\na: \"x\\(n)\"\n"),
            "n: incomplete value string:\n    ./x.cue:1:4\n"
            "a: invalid interpolation: non-concrete value string (type string):\n    ./x.cue:2:4\n    ./x.cue:1:4\n");
  EXPECT_EQ(told("if n {a: 1}\nn: bool\n"), "incomplete bool: bool:\n    ./x.cue:2:4\n");
}

TEST(Messages, are_told_once_where_the_fault_is) {
  EXPECT_EQ(told("a: 1 & 2\nb: a\n"), "a: conflicting values 2 and 1:\n    ./x.cue:1:4\n    ./x.cue:1:8\n");
}

TEST(Messages, of_list_lengths_stand_at_the_later_list) {
  EXPECT_EQ(told("a: [1, 2, 3]\na: [_]\n"), "a: incompatible list lengths (1 and 3):\n    ./x.cue:2:4\n");
}

TEST(Messages, of_and_and_or_show_the_items) {
  EXPECT_EQ(told("a: \"x\"\nc: [int, >9]\na: and(c)\n"),
            "a: conflicting values \"x\" and int & >9 (mismatched types string and int):\n    ./x.cue:1:4\n");
  EXPECT_EQ(told("a: 3\na: or([1, 2])\n"),
            "a: 2 errors in empty disjunction:\na: conflicting values 1 and 3:\n    ./x.cue:1:4\n    ./x.cue:2:8\n"
            "a: conflicting values 2 and 3:\n    ./x.cue:1:4\n    ./x.cue:2:11\n");
}

}  // namespace
}  // namespace slipway::cue::load
