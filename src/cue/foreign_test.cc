// Definitions written by others are loaded unchanged. These say in our own words what those of the field do: packages of the
// host, unused imports, closed alternatives of parameters, fields named like builtins, lists joined with "+".
#include <gtest/gtest.h>

#include "cue/cue.h"
#include "cue/patch/patch.h"
#include "cue/section.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

const Packages kHost = {{"vela/op", {{"op.cue", R"(package op
#Steps: {#do: "steps", ...}
#Read: {#do: "read", #provider: "kube", value: {...}, err?: string, ...}
#Wait: {#do: "wait", continue: bool}
)"}}}};

Program loaded(const std::string& text, CompileOptions options = {.open_names = {"context", "parameter"}}) {
  std::string body = section(text, "template");
  EXPECT_FALSE(body.empty());
  auto program = compile({{"definition.cue", body}}, kHost, options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return *program;
}

json::Value data(const char* text) { return *json::parse(text); }

TEST(ForeignDefinitions, may_import_what_they_do_not_use) {
  Program program = loaded(
      "import (\n\t\"strings\"\n\t\"vela/op\"\n)\nx: {type: \"trait\"}\ntemplate: {\n\ta: op.#Read & {value: n: 1}\n}\n");
  EXPECT_EQ(calls(evaluate(program)).at(0).provider, "kube");
}

TEST(ForeignDefinitions, ask_for_fields_that_a_provider_has_not_given_yet) {
  Program program = loaded(R"(import "vela/op"
template: {
	read: op.#Read & {value: {kind: "Pod"}}
	wait: op.#Wait & {continue: read.value.status != _|_ && read.value.status.phase == "Running"}
	later: op.#Steps & {
		if read.err == _|_ {next: op.#Wait & {continue: read.value.status.phase == "Running"} @step(2)}
	}
}
)");
  Cursor root = evaluate(program);
  EXPECT_TRUE(root.validate(Demand::Valid).empty()) << describe(root.validate(Demand::Valid));
  Cursor filled = fill(root, {{"read.value", data(R"({"status":{"phase":"Running"}})")}});
  EXPECT_TRUE(filled.lookup("wait.continue").as_bool());
  EXPECT_TRUE(filled.lookup("later.next.continue").as_bool());
}

TEST(ForeignDefinitions, have_parameters_of_closed_alternatives) {
  Program program = loaded(R"(template: {
	parameter: url: close({value: string}) | close({secretRef: {name: string, key: string}})
	output: {
		if parameter.url.value != _|_ {url: parameter.url.value}
		if parameter.url.secretRef != _|_ && parameter.url.value == _|_ {from: parameter.url.secretRef.name}
	}
}
)");
  auto output = [&](const char* parameter) {
    Cursor root = evaluate(program, {{"parameter", data(parameter)}});
    auto text = root.field("output").to_json_text();
    return root.validate().empty() && text ? *text : "wrong";
  };
  EXPECT_EQ(output(R"({"url":{"value":"u"}})"), R"({"url":"u"})");
  EXPECT_EQ(output(R"({"url":{"secretRef":{"name":"n","key":"k"}}})"), R"({"from":"n"})");
  EXPECT_EQ(output(R"({"url":{"value":"u","x":1}})"), "wrong");
}

TEST(ForeignDefinitions, choose_a_provider_by_its_type) {
  Program program = loaded(R"(template: {
	basic: {key: *"" | string}
	#A: {basic, type: "a", name: *"first" | string}
	#B: {basic, type: "b", name: *"second" | string, token: *"" | string}
	parameter: *#A | #B
	output: {
		name: parameter.name
		if parameter.type == "b" {token: parameter.token}
	}
}
)");
  auto output = [&](const char* parameter) {
    return *evaluate(program, {{"parameter", data(parameter)}}).field("output").to_json_text();
  };
  EXPECT_EQ(output("{}"), R"({"name":"first"})");
  EXPECT_EQ(output(R"({"type":"b","token":"t"})"), R"({"name":"second","token":"t"})");
}

// Of a parameter that is neither of its alternatives nothing is known, and so of nothing that is guarded by it.
TEST(ForeignDefinitions, do_not_guess_what_a_guard_would_have_said) {
  Program program = loaded(R"(template: {
	#One: {name: *"" | string, image: string}
	Patch: {
		_params: #One
		name:    _params.name
	}
	parameter: #One | close({many: [...#One]})
	output: {
		Patch & {_params: {
			if parameter.name == "" {name: "own"}
			image: parameter.image
		}}
	}
}
)");
  EXPECT_FALSE(evaluate(program, {{"parameter", data("{}")}}).field("output").to_json().has_value());
  EXPECT_EQ(*evaluate(program, {{"parameter", data(R"({"image":"i"})")}}).field("output").to_json_text(), R"({"name":"own"})");
}

// What a guard that cannot be decided says of a field is not known; what guards inside it say, or what it embeds, does not
// count.
TEST(ForeignDefinitions, tell_a_message_though_another_guard_asks_for_what_is_not_there) {
  Program program = loaded(R"(template: {
	let found = context.outputs.ingress.status.ingress
	if found == _|_ {
		message: "none"
		labels: first: "a"
	}
	if len(found) > 0 {
		host: "b"
		if found[0].ip != _|_ {message: "at " + found[0].ip}
		labels: second: "b"
	}
}
)");
  Cursor root = evaluate(program, {{"context", data(R"({"outputs":{"ingress":{}}})")}});
  EXPECT_TRUE(root.validate().empty());
  EXPECT_EQ(root.field("message").as_string(), "none");
  EXPECT_EQ(*root.field("labels").to_json_text(), R"({"first":"a"})");
  EXPECT_FALSE(root.lookup("labels.second").exists());
  root = evaluate(program, {{"context", data(R"({"outputs":{"ingress":{"status":{"ingress":[{"ip":"c"}]}}}})")}});
  EXPECT_EQ(root.field("message").as_string(), "at c");
}

TEST(ForeignDefinitions, written_for_old_versions_join_lists_and_name_fields_as_they_like) {
  const char* text = R"(template: {
	mounts: {
		pvc:  *[for v in parameter.pvc {name: v.name}] | []
		host: *[for v in parameter.host {name: v.name}] | []
	}
	error: "none"
	output: {all: mounts.pvc + mounts.host, why: error, twice: [1] * 2}
}
)";
  Program old = loaded(text, {.open_names = {"parameter"}, .is_legacy = true});
  EXPECT_EQ(*evaluate(old, {{"parameter", data(R"({"host":[{"name":"h"}]})")}}).field("output").to_json_text(),
            R"({"all":[{"name":"h"}],"why":"none","twice":[1,1]})");
  Cursor strict = evaluate(loaded(text), {{"parameter", data("{}")}});
  ASSERT_FALSE(strict.validate().empty());
  EXPECT_NE(strict.validate()[0].message.find("list.Concat"), std::string::npos) << describe(strict.validate());
}

TEST(ForeignDefinitions, put_markers_into_what_they_refer_to) {
  Program program = loaded(R"(template: {
	let content = {
		resources: {
			// +patchStrategy=retainKeys
			requests: {cpu: parameter.cpu}
		}
	}
	if context.output.spec != _|_ && context.output.spec.containers != _|_ {
		patch: spec: {
			// +patchKey=name
			containers: [{name: "b"} & content]
		}
	}
}
)");
  auto base =
      compile({{"x.cue", "output: spec: containers: [{name: \"a\"}, {name: \"b\", resources: requests: {cpu: 1, x: 2}}]"}});
  Cursor workload = evaluate(*base).field("output");
  Cursor root = evaluate(program, {{"parameter", data(R"({"cpu":4})")}, {"context.output", workload}});
  auto patched = apply_patch(workload, root.field("patch"), PatchStrategy::Unify);
  ASSERT_TRUE(patched.has_value()) << describe(patched.error());
  EXPECT_EQ(*patched->to_json_text(),
            R"({"spec":{"containers":[{"name":"a"},{"name":"b","resources":{"requests":{"cpu":4}}}]}})");
}

// A hole, the value of an earlier evaluation, and a patch are copied 300 levels deep: what lies deeper is an error, and no "_".
TEST(ForeignDefinitions, that_are_given_values_too_deep_to_copy_say_where) {
  auto nested = [](int levels) {
    std::string text = "x: ";
    for (int i = 0; i < levels; ++i) text += "{a: ";
    text += "1";
    for (int i = 0; i < levels; ++i) text += "}";
    return evaluate(*compile({{"deep.cue", text}})).field("x");
  };
  auto program = compile({{"in.cue", "y: hole"}}, {}, {.open_names = {"hole"}});
  ASSERT_TRUE(program.has_value());
  EXPECT_TRUE(evaluate(*program, {{"hole", nested(300)}}).validate(Demand::Concrete).empty());
  Errors errors = evaluate(*program, {{"hole", nested(305)}}).validate();
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "nested too deeply");
  EXPECT_TRUE(errors[0].path.starts_with("hole.a.a.a")) << errors[0].path;

  Cursor small = evaluate(*compile({{"small.cue", "x: b: 1"}})).field("x");
  EXPECT_TRUE(apply_patch(small, nested(200), PatchStrategy::Unify).has_value());
  auto patched = apply_patch(small, nested(305), PatchStrategy::Unify);
  ASSERT_FALSE(patched.has_value());
  EXPECT_EQ(patched.error()[0].message, "nested too deeply");
}

}  // namespace
}  // namespace slipway::cue
