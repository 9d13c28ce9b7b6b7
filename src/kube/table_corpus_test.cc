// The columns of built-in kinds against those that people know.
#include <gtest/gtest.h>

#include "kube/builtin.h"
#include "kube/go_literal_test.h"

namespace slipway::kube {
namespace {

/// "Name, Status, |IP": columns of -o wide begin with '|'.
std::string names(const ResourceType& type) {
  std::string out;
  for (const Column& column : type.columns) {
    out += (out.empty() ? "" : ", ") + std::string(column.priority > 0 ? "|" : "") + column.name;
  }
  return out;
}

TEST(TableCorpus, every_kind_has_the_columns_people_know) {
  SLIPWAY_CORPUS_OR_SKIP(known, "kube/table-columns.json");
  Suite suite("table-columns");
  for (const auto [kind, columns] : known["columns"].members()) {
    std::string wanted;
    for (const json::Value& column : columns.items()) wanted += (wanted.empty() ? "" : ", ") + column.str();
    bool is_known = false;
    for (const ResourceType& type : builtin_types()) {
      if (type.kind.kind != kind) continue;
      is_known = true;
      suite.expect(names(type) == wanted, fmt::format("{}: {} instead of {}", kind, names(type), wanted));
    }
    suite.expect(is_known, fmt::format("{} is not served", kind));
  }
}

}  // namespace
}  // namespace slipway::kube
