// The structured-merge-diff cases of the corpus. Each suite prints `smd/<suite> passed/total`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "json/text.h"
#include "kube/corpus_test.h"
#include "kube/field_ownership.h"
#include "kube/managed_fields.h"
#include "kube/smd_schema_test.h"
#include "kube/typed_merge.h"

namespace slipway::kube {
namespace {

using json::Value;

/// Counts the cases of a suite and holds them to the list above.
class SmdSuite {
 public:
  explicit SmdSuite(std::string name) : name_(std::move(name)), known_(known_failures("kube_smd")) {}
  ~SmdSuite() { std::printf("smd/%s %zu/%zu\n", name_.c_str(), passed_, total_); }
  SmdSuite(const SmdSuite&) = delete;
  SmdSuite& operator=(const SmdSuite&) = delete;

  void count(const std::string& title, const std::string& problem) {
    ++total_;
    passed_ += problem.empty() ? 1 : 0;
    if (known_.contains(title)) {
      EXPECT_FALSE(problem.empty()) << title << " passes: take it off the list";
    } else {
      EXPECT_TRUE(problem.empty()) << title << ": " << problem;
    }
  }
  /// A case that cannot apply here; those that are known are in the list, with the reason.
  void pass_over(const std::string& title) {
    ++total_;
    if (!known_.contains(title)) std::printf("smd/%s: passed over: %s\n", name_.c_str(), title.c_str());
  }

 private:
  std::string name_;
  std::set<std::string> known_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

Value corpus_yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  if (!value && text.ends_with("}")) value = json::parse_yaml(text.substr(0, text.size() - 1));  // some have a brace too many
  return value ? *value : Value("does not parse: " + value.error().message);
}

PathElement element_of(const Value& step) {
  if (step.is_string()) return PathElement::field(step.as_string());
  if (step.has("k")) return PathElement::key(step["k"]);
  if (step.has("v")) return PathElement::value(step["v"]);
  return PathElement::index(step["i"].as_int());
}

FieldPath path_of(const Value& steps) {
  FieldPath path;
  for (const Value& step : steps.items()) path.push_back(element_of(step));
  return path;
}

FieldSet set_of(const Value& paths) {
  FieldSet set;
  for (const Value& path : paths.items()) set = set.with(path_of(path));
  return set;
}

std::string text_of(const FieldSet& set) { return json::print(set.to_fields_v1()); }

std::string unequal(std::string_view what, const FieldSet& got, const FieldSet& wanted) {
  if (got == wanted) return "";
  return fmt::format("{} are {}, not {}; ", what, text_of(got), text_of(wanted));
}

std::string unequal(std::string_view what, const Value& got, const Value& wanted) {
  if (got == wanted) return "";
  return fmt::format("{} is {}, not {}; ", what, json::print(got), json::print(wanted));
}

#define LOAD_OR_SKIP(name, path)                 \
  const Value name = corpus_value(path);         \
  if (name.is_null()) {                          \
    GTEST_SKIP() << "skipped: corpus not found"; \
  }

TEST(SmdCorpus, fields_v1_is_written_as_upstream) {
  LOAD_OR_SKIP(data, "kube/smd/fieldpath_serialize.json");
  SmdSuite suite("fields_v1");
  auto read = [](const Value& text) -> Result<FieldSet> {
    SLIPWAY_TRY(value, json::parse(text.as_string()));
    return FieldSet::from_fields_v1(value);
  };
  auto round = [&](const std::string& title, const Value& text, const Value& wanted) {
    auto set = read(text);
    suite.count(title, !set ? set.error().message : text_of(*set) == wanted.as_string() ? "" : text_of(*set));
  };
  for (const Value& golden : data["golden_fieldsV1"].items()) round("fields_v1/golden", golden, golden);
  for (const Value& one : data["nonNormalized"].items()) {
    round("fields_v1/normalised", one["nonNormalizedString"], one["normalizedString"]);
  }
  for (const Value& one : data["accept"].items()) {
    auto set = read(one.item(1));
    suite.count("fields_v1/accept/" + one.item(0).str(), set ? "" : set.error().message);
  }
  for (const Value& one : data["reject"].items()) {
    suite.count("fields_v1/reject/" + one.item(0).str(), read(one.item(1)) ? "accepted" : "");
  }
}

TEST(SmdCorpus, values_are_compared_as_upstream) {
  LOAD_OR_SKIP(data, "kube/smd/typed/compare.json");
  SmdSuite suite("compare");
  for (const Value& one : data["cases"].items()) {
    SmdSchema schema(one["schema"].as_string());
    const SchemaNode* node = schema.type(one["type"].as_string());
    for (const Value& quint : one["quints"].items()) {
      typed::Difference got =
          typed::compare(node, corpus_yaml(quint["lhs"].as_string()), corpus_yaml(quint["rhs"].as_string()));
      suite.count("compare/" + one["name"].str() + " " + quint["lhs"].str() + " " + quint["rhs"].str(),
                  unequal("removed", got.removed, set_of(quint["removed"])) +
                      unequal("modified", got.modified, set_of(quint["modified"])) +
                      unequal("added", got.added, set_of(quint["added"])));
    }
  }
}

TEST(SmdCorpus, items_are_removed_and_extracted_as_upstream) {
  LOAD_OR_SKIP(data, "kube/smd/typed/remove.json");
  SmdSuite remove("remove");
  SmdSuite extract("extract");
  for (const Value& one : data["cases"].items()) {
    SmdSchema schema(one["schema"].as_string());
    const SchemaNode* node = schema.type(one["type"].as_string());
    for (const Value& quad : one["quadruplets"].items()) {
      const Value object = corpus_yaml(quad["object"].as_string());
      const FieldSet set = set_of(quad["set"]);
      const std::string title = quad["object"].str() + " " + text_of(set);
      // "unparseable" marks results that the suite cannot write down (items without keys), so it does not say what they are.
      if (quad["remove"].as_string() != "unparseable") {
        const Value left = typed::remove_items(node, object, set, typed::Emptied::Null);
        remove.count("remove/" + title, unequal("left", left, corpus_yaml(quad["remove"].as_string())));
      }
      if (quad["extract"].as_string() != "unparseable") {
        const Value extracted = typed::extract_items(node, object, set, typed::KeyFields::AsListed);
        extract.count("extract/" + title, unequal("extracted", extracted, corpus_yaml(quad["extract"].as_string())));
      }
    }
  }
}

TEST(SmdCorpus, extracted_items_bring_their_keys_as_upstream) {
  LOAD_OR_SKIP(data, "kube/smd/typed/extract_with_keys.json");
  SmdSuite suite("extract_with_keys");
  for (const Value& one : data["cases"].items()) {
    SmdSchema schema(one["schema"].as_string());
    const SchemaNode* node = schema.type(one["type"].as_string());
    for (const Value& triplet : one["triplets"].items()) {
      const Value& wanted = triplet["wantOutput"];
      const Value got = typed::extract_items(node, corpus_yaml(triplet["object"].as_string()), set_of(triplet["set"]),
                                             typed::KeyFields::Always);
      suite.count("extract_with_keys/" + json::print(triplet["set"]),
                  unequal("extracted", got, wanted.is_string() ? corpus_yaml(wanted.as_string()) : wanted));
    }
  }
}

TEST(SmdCorpus, values_are_validated_as_upstream) {
  LOAD_OR_SKIP(data, "kube/smd/typed/validate.json");
  SmdSuite suite("validate");
  for (const Value& one : data["cases"].items()) {
    SmdSchema schema(one["schema"].as_string());
    const SchemaNode* node = schema.type(one["type"].as_string());
    auto check = [&](const char* list, typed::Duplicates duplicates, bool is_valid) {
      for (const Value& text : one[list].items()) {
        const auto causes = typed::mismatches(node, corpus_yaml(text.as_string()), duplicates);
        suite.count(fmt::format("validate/{}/{}", list, text.as_string()), causes.empty() == is_valid ? "" : "wrong");
      }
    };
    check("valid", typed::Duplicates::Refused, true);
    check("invalid", typed::Duplicates::Allowed, false);
    check("duplicates", typed::Duplicates::Allowed, true);
    check("duplicates", typed::Duplicates::Refused, false);
  }
}

/// The parsers of a scenario file; two that the file does not bring are elsewhere in the corpus.
class Parsers {
 public:
  explicit Parsers(const Value& file) : parsers_(file["parsers"]) {
    const Value removal = corpus_value("kube/smd/typed/remove.json")["cases"];
    nested_ = removal.item(removal.size() - 1)["schema"];
    associative_ = corpus_value("kube/smd/merge/key.json")["parsers"]["associativeListParser"]["schema"];
  }
  const SchemaNode* root(const std::string& name) {
    if (name == "DeducedParser") return nullptr;
    if (name == "nestedTypeParser") return make(nested_, "type");
    const Value& parser = parsers_[name];
    if (parser.is_null() && name == "associativeListParser") return make(associative_, "type");
    return make(parser["schema"], parser["type"].is_string() ? parser["type"].as_string() : "v1");
  }

 private:
  const SchemaNode* make(const Value& schema, std::string_view type) {
    made_.push_back(std::make_unique<SmdSchema>(schema.as_string()));
    return made_.back()->type(type);
  }
  Value parsers_;
  Value nested_;
  Value associative_;
  std::vector<std::unique_ptr<SmdSchema>> made_;
};

/// Which parser a ChangeParser changes to; the corpus lost the names.
std::string next_parser(const std::string& test) {
  if (test == "new optional key") return "associativeListParserNewOptionalKey";
  if (test == "new required key with default") return "associativeListParserNewKeyWithDefault";
  if (test == "to-granular") return "structParser";
  if (test.starts_with("to-atomic")) return "structWithAtomicParser";
  return "associativeListParserPromoteKeyAfter";
}

class Scenario {
 public:
  Scenario(const Value& test, Parsers& parsers) : test_(test), parsers_(parsers) {}

  std::string run() {
    node_ = parsers_.root(test_["parser"].str());
    for (const Value& ignored : {test_["IgnoreFilter"], test_["IgnoredFields"]}) {
      for (auto [version, set] : ignored.members()) ownable_.ignored = unite(ownable_.ignored, literal_set(set));
    }
    for (const Value& op : test_["ops"].items()) {
      std::string problem = step(op);
      if (!problem.empty()) return json::print(op) + ": " + problem;
    }
    return end_state();
  }

 private:
  /// `_NS(_P("a"), …)`, or a filter around it, as a transliterated Go call.
  static FieldSet literal_set(const Value& call) {
    FieldSet set;
    for (const Value& argument : call["args"].items()) {
      if (argument["_call"].as_string() == "_P") {
        set = set.with(path_of(argument["args"]));
      } else {
        set = unite(set, literal_set(argument));
      }
    }
    return set;
  }

  std::string step(const Value& op) {
    const std::string kind = op["op"].str();
    if (kind == "ChangeParser") {
      node_ = parsers_.root(next_parser(test_["name"].str()));
      return "";
    }
    const Writer writer{op["manager"].str(), op["apiVersion"].str(), ""};
    Value object = corpus_yaml(op["object"].as_string());
    if (object.is_null()) object = Value::empty_object();
    if (kind == "Update") {
      own_update(managed_, node_, typed::compare(node_, live_, object), {writer, ownable_, now()});
      live_ = object;
      return "";
    }
    if (kind == "ExtractApply") {
      const std::size_t own = managed_.find(ManagedOperation::Apply, writer);
      const FieldSet owned = own == ManagedFields::kNone ? FieldSet() : managed_.fields(own);
      const Value extracted = typed::extract_items(node_, live_, owned, typed::KeyFields::AsListed);
      object = typed::merge(node_, extracted.is_null() ? Value::empty_object() : extracted, object);
    }
    return apply(object, writer, kind == "ForceApply", op["conflicts"]);
  }

  std::string apply(const Value& object, const Writer& writer, bool force, const Value& expected) {
    ManagedFields managed = managed_;
    auto merged = own_apply(managed, node_, live_, object, {writer, ownable_, now()},
                            force ? OnConflict::Take : OnConflict::Refuse, typed::Emptied::Null);
    std::set<std::string> conflicts;
    std::set<std::string> wanted;
    if (!merged) {
      for (const Cause& cause : merged.error().causes)
        conflicts.insert(cause.message.substr(0, cause.message.rfind('"') + 1) + cause.field);
    }
    for (const Value& one : expected.items()) {
      wanted.insert("conflict with \"" + one["manager"].str() + "\"" + to_string(path_of(one["path"])));
    }
    if (conflicts != wanted) {
      return fmt::format("conflicts are [{}], not [{}]", fmt::join(conflicts, " "), fmt::join(wanted, " "));
    }
    if (!merged) return "";
    live_ = *merged;
    managed_ = std::move(managed);
    // What goes through managedFields must come back.
    managed_ = ManagedFields::stored(managed_.encode());
    return "";
  }

  std::string end_state() {
    std::string problem;
    if (test_.has("object")) {
      const Value wanted = corpus_yaml(test_["object"].as_string());
      const typed::Difference difference = typed::compare(node_, wanted, live_);
      if (!difference.empty()) problem = unequal("object", live_, wanted);
    }
    std::set<std::string> got;
    std::set<std::string> wanted;
    for (std::size_t at = 0; at < managed_.size(); ++at) {
      if (managed_.fields(at).empty()) continue;
      got.insert(fmt::format("{} {} {}", managed_.manager(at), managed_.api_version(at), text_of(managed_.fields(at))));
    }
    for (auto [manager, row] : test_["managed"].members()) {
      wanted.insert(fmt::format("{} {} {}", manager, row["apiVersion"].as_string(), text_of(set_of(row["set"]))));
    }
    if (got != wanted) problem += fmt::format("managers are\n{}\nnot\n{}", fmt::join(got, "\n"), fmt::join(wanted, "\n"));
    return problem;
  }

  Time now() { return Time(Duration(++clock_ * 1'000'000)); }

  Value test_;
  Parsers& parsers_;
  const SchemaNode* node_ = nullptr;
  OwnableFields ownable_;
  Value live_ = Value::empty_object();
  ManagedFields managed_;
  std::int64_t clock_ = 0;
};

TEST(SmdCorpus, scenarios_end_as_upstream) {
  for (const char* file : {"duplicates", "extract_apply", "field_level_overrides", "ignore", "key", "leaf", "multiple_appliers",
                           "preserve_unknown", "schema_change", "set"}) {
    LOAD_OR_SKIP(data, fmt::format("kube/smd/merge/{}.json", file));
    SmdSuite suite(fmt::format("merge/{}", file));
    Parsers parsers(data);
    for (const Value& test : data["tests"].items()) {
      const std::string title = fmt::format("merge/{}/{}", file, test["name"].as_string());
      // A converter translates field names between versions, in Go code; here all versions of a kind share one schema.
      if (test["converter"].as_bool()) {
        suite.pass_over(title);
      } else {
        suite.count(title, Scenario(test, parsers).run());
      }
    }
  }
}

#undef LOAD_OR_SKIP

}  // namespace
}  // namespace slipway::kube
