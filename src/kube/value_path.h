// Where in an object a recursion stands: frames on the stack, turned into text only when something is to be reported.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::kube {

struct ValuePath {
  enum class Step : unsigned char { Root, Field, Key, Index };

  const ValuePath* parent = nullptr;
  Step step = Step::Root;
  std::string_view name;  // Field: a declared property; Key: a key of a map
  std::size_t index = 0;

  ValuePath field(std::string_view key) const { return {this, Step::Field, key, 0}; }
  ValuePath key(std::string_view key) const { return {this, Step::Key, key, 0}; }
  ValuePath item(std::size_t at) const { return {this, Step::Index, {}, at}; }

  /// "spec.steps[0].name"; keys of maps as fields, as OpenAPI validation names them.
  std::string dotted() const { return text(false); }
  /// "spec.labels[app]": keys of maps in brackets, as k8s.io/apimachinery field paths.
  std::string bracketed() const { return text(true); }

 private:
  std::string text(bool has_brackets_for_keys) const {
    if (parent == nullptr) return std::string(name);
    std::string out = parent->text(has_brackets_for_keys);
    if (step == Step::Index) return out + "[" + std::to_string(index) + "]";
    if (step == Step::Key && has_brackets_for_keys) return out + "[" + std::string(name) + "]";
    if (!out.empty()) out += '.';
    return out + std::string(name);
  }
};

}  // namespace slipway::kube
