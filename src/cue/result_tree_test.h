// Results as trees in the form of the corpus, and their comparison.
#pragma once

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "cue/eval/evaluator.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue::testing {

/// A function that judges, with all its arguments: "encoding/json".Validate(string), time.Time().
inline std::string literal_part(Evaluator& evaluator, const Value& value) {
  if (value.tag != Value::Tag::Validator) return evaluator.show(value);
  std::string package(value.validator->builtin->package);
  if (package.find('/') != std::string::npos) package = "\"" + package + "\"";
  std::string text = package + (package.empty() ? "" : ".") + std::string(value.validator->builtin->name) + "(";
  // Schemas are long, and are not compared.
  bool has_schemas = value.validator->builtin->name.starts_with("match");
  for (std::size_t i = 0; i < value.validator->args.size() && !has_schemas; ++i)
    text += (i > 0 ? ", " : "") + evaluator.show(value.validator->args[i]);
  return text + ")";
}

inline std::string literal(Evaluator& evaluator, const Value& value) {
  if (value.tag != Value::Tag::Conjunction) return literal_part(evaluator, value);
  std::vector<std::string> parts;
  for (const Value& part : value.conjunction->parts) parts.push_back(literal_part(evaluator, part));
  std::sort(parts.begin(), parts.end());
  std::string text = "&(";
  for (const std::string& one : parts) text += (text.size() > 2 ? ", " : "") + one;
  return text + ")";
}

// Parts of a conjunction in any order.
inline std::string sorted_literal(const std::string& text) {
  if (!text.starts_with("&(")) return text;
  std::vector<std::string> parts;
  std::string inner = text.substr(2, text.size() - 3);
  for (std::size_t at = 0; at <= inner.size();) {
    std::size_t end = std::min(inner.find(", ", at), inner.size());
    parts.push_back(inner.substr(at, end - at));
    at = end + 2;
  }
  std::sort(parts.begin(), parts.end());
  std::string out = "&(";
  for (const std::string& one : parts) out += (out.size() > 2 ? ", " : "") + one;
  return out + ")";
}

/// Whether an expectation leaves the value of a field open.
inline bool is_ignored(const Vertex* field) {
  if (field->info == nullptr) return false;
  return std::any_of(field->info->attributes.begin(), field->info->attributes.end(),
                     [](const ast::Attribute* one) { return one->name == "test" && one->body == "ignore"; });
}

/// The tree of a vertex in the form of the corpus. Optional fields are evaluated too.
inline json::Value tree_of(Evaluator& evaluator, Vertex* v, int depth) {
  if (depth > 60) return json::object({{"k", "deep"}});
  evaluator.settle(v);
  evaluator.complete(v);
  Vertex* real = deref(v);
  json::ObjectBuilder out;
  const Bottom* error = real->base.is_bottom() ? real->base.bottom : real->child_error;
  if (error != nullptr && (real->base.is_bottom() || !is_incomplete(error->code))) {
    out.set("k", "_|_").set("code", code_name(error->code)).set("msg", evaluator.message(*error));
    if (!real->base.is_bottom()) out.set("child", real->base.tag == Value::Tag::List ? "list" : "struct");
    // What a validator does not accept yet has its fields all the same.
    if (real->base.is_bottom() && is_incomplete(error->code) && !real->arcs.empty()) {
      out.set("child", real->arcs[0]->label.is_index() ? "list" : "struct");
    }
  } else if (real->base.tag == Value::Tag::Disjunction) {
    out.set("k", describe_kind(kinds_of(real->base)));
    json::ArrayBuilder alternatives;
    const Disjunction& d = *real->base.disjunction;
    for (std::size_t i = 0; i < d.values.size(); ++i) {
      Vertex* inner = evaluator.data_vertex(nullptr, kNoLabel, d.values[i]);
      alternatives.add(json::array({json::Value(i < d.defaults), tree_of(evaluator, inner, depth + 1)}));
    }
    if (real->is_closed && kinds_of(real->base) == kStruct) out.set("closed", true);
    out.set("d", alternatives.build());
    return out.build();
  } else if (real->base.tag == Value::Tag::Struct) {
    out.set("k", "struct");
    if (real->is_closed) out.set("closed", true);
  } else if (real->base.tag == Value::Tag::List) {
    out.set("k", "list");
    if (!real->is_open_list) out.set("closed", true);
  } else {
    out.set("k", describe_kind(kinds_of(real->base))).set("v", literal(evaluator, real->base));
  }
  json::ArrayBuilder fields;
  for (std::uint32_t i = 0; i < real->arcs.size(); ++i) {
    Vertex* field = real->arcs[i];
    if (field->label.is_let() || field->mark == ArcMark::Absent) continue;
    std::string label =
        field->label.is_index() ? std::to_string(field->label.index()) : std::string(evaluator.labels().describe(field->label));
    const char* mark = field->mark == ArcMark::Optional ? "?" : field->mark == ArcMark::Required ? "!" : "";
    json::Value value = is_ignored(field) ? json::object({{"ignored", true}}) : tree_of(evaluator, field, depth + 1);
    fields.add(json::array({json::Value(label), json::Value(mark), value}));
  }
  if (!fields.empty()) out.set("f", fields.build());
  return out.build();
}

struct Comparison {
  const json::Value& root;
  int leaves = 0;
  int wrong = 0;
  std::string first = {};
  bool tells_all = false;  // every difference, on standard output

  void differ(const std::string& path, const std::string& what) {
    ++wrong;
    if (first.empty()) first = path + ": " + what;
    if (tells_all) std::cout << path << ": " << what << std::endl;
  }

  const json::Value* at_path(const json::Value& tree, const std::string& path) {
    if (path.empty()) return &tree;
    std::size_t dot = 0;
    bool quoted = false;
    for (; dot < path.size() && (quoted || path[dot] != '.'); ++dot) quoted = quoted != (path[dot] == '"');
    std::string label = path.substr(0, dot);
    for (const json::Value& field : tree["f"].items()) {
      if (field.item(0).as_string() == label)
        return dot >= path.size() ? &field.item(2) : at_path(field.item(2), path.substr(dot + 1));
    }
    return nullptr;
  }

  static std::string plain_label(std::string label) {
    if (label.starts_with('"')) return label;
    label.resize(std::min(label.find('('), label.size()));
    // Hidden names are those of a package: "_x$package".
    if (label.starts_with('_')) label.resize(std::min(label.find('$', 1), label.size()));
    return label;
  }

  // Schemas among the arguments of matchN and matchIf are shown unevaluated; only which function it is can be compared.
  static std::string without_schemas(std::string text) {
    for (const char* name : {"matchN(", "matchIf("}) {
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        std::size_t begin = text.find('(', at) + 1;
        std::size_t end = begin;
        for (int depth = 1; end < text.size() && (depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0) > 0;) ++end;
        text.erase(begin, end - begin);
      }
    }
    return text;
  }

  static bool is_same_literal(const std::string& want, const std::string& got) {
    return sorted_literal(without_schemas(want)) == without_schemas(got);
  }

  // Fields of a vertex that failed before they were looked at are shown as their source.
  static bool is_source(const json::Value& want) {
    return want["k"].as_string() == "_|_" && want["v"].as_string().starts_with("/ ");
  }

  void compare(const json::Value& want_in, const json::Value& got, const std::string& path, int depth) {
    const json::Value* want = &want_in;
    for (int hops = 0; want->has("ref") && hops < 10; ++hops) {
      want = at_path(root, (*want)["ref"].str());
      if (want == nullptr) return;
    }
    if (depth > 40 || is_source(*want)) return;
    ++leaves;
    if ((*want)["ignored"].as_bool()) return;
    if ((*want)["k"].as_string() == "_|_" && got["fails"].as_bool()) return;
    if ((*want)["k"].as_string() != got["k"].as_string()) {
      if (tells_all) fields((*want)["f"], got["f"], path, depth, true);
      return differ(path, "want " + (*want)["k"].str() + " " + (*want)["v"].str() + (*want)["code"].str() + ", got " +
                              got["k"].str() + " " + got["v"].str() + " " + got["msg"].str());
    }
    bool is_error = got["k"].as_string() == "_|_";
    if (is_error) {
      if ((*want)["code"].as_string() != got["code"].as_string() && want->has("code"))
        differ(path, "want code " + (*want)["code"].str() + ", got " + got["code"].str() + " " + got["msg"].str());
    } else if (want->has("d") != got.has("d")) {
      return differ(path, want->has("d") ? "want a disjunction" : "want no disjunction");
    } else if (want->has("v") && !is_same_literal((*want)["v"].str(), got["v"].str())) {
      return differ(path, "want " + (*want)["v"].str() + ", got " + got["v"].str());
    } else if ((*want)["closed"].as_bool() != got["closed"].as_bool()) {
      differ(path, (*want)["closed"].as_bool() ? "want closed" : "want open");
    }
    disjuncts((*want)["d"], got["d"], path, depth);
    fields((*want)["f"], got["f"], path, depth, is_error);
  }

  void disjuncts(const json::Value& want, const json::Value& got, const std::string& path, int depth) {
    if (want.size() != got.size())
      return differ(path, "want " + std::to_string(want.size()) + " disjuncts, got " + std::to_string(got.size()));
    for (const json::Value& one : want.items()) {
      bool found = false;
      for (const json::Value& other : got.items()) {
        Comparison inner{root};
        inner.compare(one.item(1), other.item(1), path, depth + 1);
        found = found || (inner.wrong == 0 && one.item(0).as_bool() == other.item(0).as_bool());
      }
      if (!found) return differ(path, "no such disjunct " + json::print(one));
    }
  }

  void fields(const json::Value& want, const json::Value& got, const std::string& path, int depth, bool is_error) {
    std::map<std::string, const json::Value*> have;
    for (const json::Value& field : got.items()) have[field.item(0).str()] = &field;
    for (const json::Value& field : want.items()) {
      if (field.item(1).as_string() == "let") continue;
      std::string label = plain_label(field.item(0).str());
      auto found = have.find(label);
      if (found == have.end()) {
        if (!is_error) differ(path + "." + label, "missing");
        continue;
      }
      // "*": whether the field is there was not decided.
      bool is_undecided = field.item(1).as_string() == "*" && is_source(field.item(2));
      if (!is_undecided && field.item(1).as_string() != found->second->item(1).as_string())
        differ(path + "." + label, "want mark '" + field.item(1).str() + "'");
      compare(field.item(2), found->second->item(2), path + "." + label, depth + 1);
      have.erase(found);
    }
    if (is_error) return;
    for (const auto& [label, field] : have) differ(path + "." + label, "not wanted");
  }
};

/// Without what is no part of an assertion: whether structs are closed, and the texts of errors.
inline json::Value open_tree(const json::Value& tree) {
  json::Value out = tree.without("closed").without("msg").without("code");
  json::ArrayBuilder fields;
  for (const json::Value& field : tree["f"].items())
    fields.add(json::array({field.item(0), field.item(1), open_tree(field.item(2))}));
  if (!fields.empty()) out = out.with("f", fields.build());
  json::ArrayBuilder alternatives;
  for (const json::Value& one : tree["d"].items()) alternatives.add(json::array({one.item(0), open_tree(one.item(1))}));
  return alternatives.empty() ? out : out.with("d", alternatives.build());
}

}  // namespace slipway::cue::testing
