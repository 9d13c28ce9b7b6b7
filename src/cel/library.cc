#include "cel/library.h"

#include "base/check.h"

namespace slipway::cel {
namespace {

/// Reads signatures of rows; they are ours, so a fault is a broken invariant.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  Overload read(const Row& row) {
    Overload overload{.name = std::string(row.name), .is_member = false, .params = {}, .result = {}, .run = row.run};
    if (!sees('(')) {
      overload.is_member = true;
      overload.params.push_back(type());
      expect('.');
    }
    expect('(');
    while (!sees(')')) {
      overload.params.push_back(type());
      if (sees(',')) expect(',');
    }
    expect(')');
    expect('-');
    expect('>');
    overload.result = type();
    return overload;
  }

 private:
  void skip() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool sees(char c) {
    skip();
    return !text_.empty() && text_.front() == c;
  }
  void expect(char c) {
    SLIPWAY_CHECK(sees(c));
    text_.remove_prefix(1);
  }

  TypePtr type() {
    skip();
    std::size_t end = 0;
    // A dot belongs to the name ("net.IP") unless the arguments of a member follow it.
    const auto ends_here = [&] {
      return text_[end] == '.' ? text_.substr(end).starts_with(".(") : std::string_view("(),- ").contains(text_[end]);
    };
    while (end < text_.size() && !ends_here()) ++end;
    const std::string_view name = text_.substr(0, end);
    text_.remove_prefix(end);
    std::vector<TypePtr> params;
    if (!text_.empty() && text_.front() == '(' && (name == "list" || name == "map" || name == "optional" || name == "type")) {
      expect('(');
      while (!sees(')')) {
        params.push_back(type());
        if (sees(',')) expect(',');
      }
      expect(')');
    }
    return named(name, params);
  }

  static TypePtr named(std::string_view name, const std::vector<TypePtr>& params) {
    if (name == "list") return list_of(params.at(0));
    if (name == "map") return map_of(params.at(0), params.at(1));
    if (name == "optional") return optional_of(params.at(0));
    if (name == "type") return type_type(params.at(0));
    if (name.size() == 1) return var(name, 0);
    static const std::map<std::string_view, Kind> kScalars{
        {"dyn", Kind::Dyn},          {"null", Kind::Null},   {"bool", Kind::Bool},
        {"int", Kind::Int},          {"uint", Kind::Uint},   {"double", Kind::Double},
        {"string", Kind::String},    {"bytes", Kind::Bytes}, {"timestamp", Kind::Timestamp},
        {"duration", Kind::Duration}};
    const auto scalar = kScalars.find(name);
    return scalar != kScalars.end() ? type_of(scalar->second) : opaque(name);
  }

  std::string_view text_;
};

}  // namespace

Library::Library(std::initializer_list<std::span<const Row>> tables) {
  for (const std::span<const Row> table : tables) {
    for (const Row& row : table) overloads_[std::string(row.name)].push_back(SignatureReader(row.signature).read(row));
  }
}

std::span<const Overload> Library::find(std::string_view name) const {
  const auto found = overloads_.find(name);
  if (found == overloads_.end()) return {};
  return found->second;
}

const Library& library() {
  static const Library all{operator_rows(), conversion_rows(), time_rows(),    string_rows(),
                           list_rows(),     optional_rows(),   network_rows(), scalar_rows()};
  return all;
}

}  // namespace slipway::cel
