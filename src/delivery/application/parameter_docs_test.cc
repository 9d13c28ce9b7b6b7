#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/definition_commands.h"

namespace slipway::delivery::application {
namespace {

std::string told(const std::string& text) {
  std::string out;
  for (const ParameterDoc& doc : parameter_docs(text)) {
    out += fmt::format("{}{}: {}{}{}\n", doc.name, doc.is_optional ? "?" : "", doc.type, doc.usage.empty() ? "" : " // ",
                       doc.usage);
  }
  return out;
}

TEST(ParameterDocs, tell_each_field_with_its_path_type_and_usage) {
  EXPECT_EQ(told(R"(output: {a: parameter.image}
parameter: {
	// +usage=What to run
	// +short=i
	image: string
	ports?: [...{
		// +usage=Number
		port: int // the port
		"a-b": *"x" | string
	}]
	labels: [string]: string
	[string]: _
	flag: *false | bool
}
after: int
)"),
            "image: string // What to run\n"
            "ports?: list of structs\n"
            "ports.port: int // Number\n"
            "ports.a-b: *\"x\" | string\n"
            "labels: [string]: string\n"
            "flag: *false | bool\n");
  EXPECT_EQ(told("output: {}\n"), "");
}

TEST(ParameterDocs, follow_definitions_that_types_name) {
  EXPECT_EQ(told(R"(
#Size: *"1Gi" | string
#Change: {
	// +usage=Which
	name: string
	size: #Size
}
#List: [...{
	key: string
}]
parameter: *#Change | close({
	all: [...#Change]
	items?: #List
})
)"),
            "name: string // Which\n"
            "size: *\"1Gi\" | string\n"
            "all?: list of structs\n"
            "all.name: string // Which\n"
            "all.size: *\"1Gi\" | string\n"
            "items?: list of structs\n"
            "items.key: string\n");
  EXPECT_EQ(told("parameter: [string]: string | null\n"), "*?: string | null\n");
  EXPECT_EQ(told("parameter: {\n\tresources: requests: storage: int\n}\n"), "resources.requests.storage: int\n");
}

}  // namespace
}  // namespace slipway::delivery::application
