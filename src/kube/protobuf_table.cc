#include "kube/protobuf_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/check.h"
#include "kube/api_group.h"

namespace slipway::kube {
namespace {

constexpr std::string_view kFieldText =
#include "kube/protobuf_fields.inc"
    ;

struct FormName {
  std::string_view name;
  ProtoForm form;
};
constexpr std::array kForms{
    FormName{"time", ProtoForm::Time},
    FormName{"microtime", ProtoForm::MicroTime},
    FormName{"duration", ProtoForm::Duration},
    FormName{"quantity", ProtoForm::Quantity},
    FormName{"json", ProtoForm::Json},
    FormName{"intorstring", ProtoForm::IntOrString},
    FormName{"raw", ProtoForm::RawExtension},
    FormName{"list", ProtoForm::List},
    FormName{"orarray", ProtoForm::SchemaOrArray},
    FormName{"orbool", ProtoForm::SchemaOrBool},
    FormName{"orstrings", ProtoForm::SchemaOrStrings},
};

/// The part of `text` before `end`, which is cut off with it.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return taken;
}

/// The lines of protobuf_fields.inc, whose grammar tools/gen_protobuf.cc tells.
class Table {
 public:
  Table() {
    for (std::string_view text = kFieldText; !text.empty();) lines_.push_back(take(text, '\n'));
    for (std::string_view line : lines_) {
      std::string_view head = take(line, ' ');
      ProtoMessage& message = messages_.emplace_back();
      message.name = take(head, '=');
      const auto form = std::ranges::find(kForms, head, &FormName::name);
      message.form = form == kForms.end() ? ProtoForm::Object : form->form;
    }
    // Only now, as fields point to messages.
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::string_view line = lines_[i];
      take(line, ' ');
      while (!line.empty()) messages_[i].fields.push_back(field(take(line, ' '), messages_[i].name));
    }
  }

  std::span<const ProtoMessage> messages() const { return messages_; }
  const ProtoMessage* find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(messages_, name, {}, &ProtoMessage::name);
    return at != messages_.end() && at->name == name ? &*at : nullptr;
  }

 private:
  ProtoField field(std::string_view text, std::string_view message) const {
    ProtoField out;
    out.name = take(text, ':');
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
    SLIPWAY_CHECK(error == std::errc(), "protobuf_fields.inc: no number");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    for (bool is_mark = true; is_mark;) {
      const char mark = text.front();
      is_mark = mark == '!' || mark == '^' || mark == '*' || mark == '%';
      if (!is_mark) break;
      out.keeps_zero |= mark == '!';
      out.is_embedded |= mark == '^';
      if (mark == '*') out.shape = ProtoField::Shape::Repeated;
      if (mark == '%') out.shape = ProtoField::Shape::Map;
      text.remove_prefix(1);
    }
    constexpr std::string_view kTypes = "sbildy@";
    out.type = static_cast<ProtoType>(kTypes.find(text.front()));
    if (out.type == ProtoType::Message) out.message = reference(text.substr(1), message);
    SLIPWAY_CHECK(!out.is_embedded || out.message != nullptr, "protobuf_fields.inc: only messages are embedded");
    return out;
  }

  const ProtoMessage* reference(std::string_view name, std::string_view from) const {
    std::string full(name);
    if (name.starts_with('.')) full.insert(0, from.substr(0, from.rfind('.')));
    const ProtoMessage* found = find(full);
    SLIPWAY_CHECK(found != nullptr, "protobuf_fields.inc: a field of an unknown message");
    return found;
  }

  std::vector<std::string_view> lines_;
  std::vector<ProtoMessage> messages_;
};

const Table& table() {
  static const Table& all = *new Table();
  return all;
}

/// Kinds of meta/v1 that are registered in every group.
bool is_everywhere(std::string_view kind) {
  constexpr std::array<std::string_view, 11> kKinds{"Status",        "WatchEvent",      "APIVersions",   "APIGroup",
                                                    "APIGroupList",  "APIResourceList", "DeleteOptions", "CreateOptions",
                                                    "UpdateOptions", "PatchOptions",    "GetOptions"};
  return std::ranges::find(kKinds, kind) != kKinds.end() || kind == "ListOptions";
}

/// The proto package of a group: its first label, but for two.
std::string_view package_of(std::string_view group) {
  if (group.empty()) return "core";
  if (group == "internal.apiserver.k8s.io") return "apiserverinternal";
  return group.substr(0, group.find('.'));
}

/// Times, quantities and their like are no objects, nor is what has a kind or apiVersion that is not its own.
bool may_be_object(const ProtoMessage& message) {
  return message.form == ProtoForm::Object && std::ranges::none_of(message.fields, [](const ProtoField& field) {
           return field.name == "kind" || field.name == "apiVersion";
         });
}

}  // namespace

const ProtoField* ProtoMessage::field(std::uint32_t number) const {
  const auto at = std::ranges::lower_bound(fields, number, {}, &ProtoField::number);
  return at != fields.end() && at->number == number ? &*at : nullptr;
}

std::span<const ProtoMessage> protobuf_messages() { return table().messages(); }

const ProtoMessage* protobuf_message(std::string_view name) { return table().find(name); }

std::string protobuf_name(const GroupVersionKind& kind) {
  return std::string(package_of(kind.group)) + "." + kind.version + "." + kind.kind;
}

const ProtoMessage* protobuf_message(const GroupVersionKind& kind) {
  // Only Kubernetes' own groups have messages.
  const ProtoMessage* found = is_kubernetes_group(kind.group) ? table().find(protobuf_name(kind)) : nullptr;
  const bool is_meta = kind.group == "meta.k8s.io" || is_everywhere(kind.kind);
  if (found == nullptr && is_meta) found = table().find("meta.v1." + kind.kind);
  return found != nullptr && may_be_object(*found) ? found : nullptr;
}

}  // namespace slipway::kube
