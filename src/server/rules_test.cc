#include "server/rules.h"

#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class RuleServer : public ServerTest {
 public:
  static Value with_rules(std::string_view rules) {
    const Value version = widgets_definition()["spec"]["versions"].item(0);
    const Value spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"].with("x-kubernetes-validations", yaml(rules));
    return widgets_definition().with_path(
        {"spec", "versions"}, json::array({version.with_path({"schema", "openAPIV3Schema", "properties", "spec"}, spec)}));
  }
};

TEST_F(RuleServer, refuses_an_object_that_breaks_a_rule) {
  must(create(kCrds, with_rules("[{rule: 'self.size < 10', message: size is too large}]")));
  must(create(kWidgets, widget("w")));
  EXPECT_EQ(message(create(kWidgets, widget("x").with_path({"spec", "size"}, 11))),
            "Widget.example.com \"x\" is invalid: spec: Invalid value: \"object\": size is too large");
}

TEST_F(RuleServer, compares_an_update_with_what_was_there) {
  must(create(kCrds, with_rules("[{rule: 'self.size >= oldSelf.size', message: size may not shrink, fieldPath: .size}]")));
  const Value made = must(create(kWidgets, widget("w").with_path({"spec", "size"}, 5)));
  EXPECT_EQ(message(update(kWidgets, made.with_path({"spec", "size"}, 4))),
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: \"object\": size may not shrink");
  EXPECT_EQ(must(update(kWidgets, made.with_path({"spec", "size"}, 6)))["spec"]["size"], Value(6));
}

TEST_F(RuleServer, refuses_a_definition_whose_rules_do_not_compile) {
  const std::string said = message(create(kCrds, with_rules("[{rule: 'self.nothing < 10'}]")));
  EXPECT_NE(
      said.find("spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: "
                "apiextensions.ValidationRule{Rule:\"self.nothing < 10\""),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("compilation failed: ERROR: <input>:1:5: undefined field 'nothing'"), std::string::npos) << said;
}

TEST_F(RuleServer, says_that_rules_were_not_run_on_what_has_wrong_types) {
  must(create(kCrds, with_rules("[{rule: 'self.size < 10', message: size is too large}]")));
  const std::string said = message(create(kWidgets, widget("x").with_path({"spec", "size"}, "many")));
  EXPECT_NE(said.find("<nil>: Invalid value: null: some validation rules were not checked because the object was invalid"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace slipway::server
