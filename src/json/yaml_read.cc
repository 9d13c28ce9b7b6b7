// YAML to values over libyaml's events, without recursion. Anchored values are shared, not copied; what aliases would expand to
// is counted all the same, for whoever prints the value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/digest.h"
#include "json/layout.h"
#include "json/text.h"
#include "json/yaml_event.h"
#include "json/yaml_input.h"
#include "json/yaml_scalar.h"

namespace slipway::json {

namespace {

// What a node would weigh if every alias in it were written out.
struct Weight {
  std::size_t bytes = 0;
  std::size_t depth = 0;
};

struct Anchor {
  Value value;
  Weight weight;
  bool complete = false;
};

struct Frame {
  bool is_mapping = false;
  bool wants_key = false;
  bool merges_next = false;
  std::size_t first_value = 0;
  std::string anchor;
  Weight weight;
  std::vector<yaml_mark_t> keys;
  std::vector<Value> merged;
};

class YamlReader {
 public:
  YamlReader(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_) set_yaml_input(parser_, text);
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() {
    if (ready_) yaml_parser_delete(&parser_);
  }

  Result<std::vector<YamlDocument>> read();

 private:
  using Outcome = Result<void>;

  Outcome take(const yaml_event_t& event);
  Outcome begin(const yaml_event_t& event, bool is_mapping);
  Outcome end();
  Outcome scalar(const yaml_event_t& event);
  Outcome alias(const yaml_event_t& event);
  Outcome add(Value value, Weight weight, const yaml_mark_t& mark, bool is_merge_key);
  Outcome add_key(const Value& value, const yaml_mark_t& mark, bool is_merge_key);
  Outcome add_merged(Frame& frame, const Value& value, const yaml_mark_t& mark);
  Result<Value> resolve(const yaml_event_t& event);
  Result<Value> resolve_tagged(std::string_view tag, std::string_view text, const yaml_mark_t& mark);
  void remember(std::string_view anchor, const Value& value, Weight weight) {
    if (!anchor.empty()) anchors_[std::string(anchor)] = {value, weight, true};
  }

  static std::unexpected<Status> failed(const yaml_mark_t& mark, std::string_view why) {
    return fail(Reason::BadRequest, fmt::format("yaml: line {}, column {}: {}", mark.line + 1, mark.column + 1, why));
  }
  std::unexpected<Status> parser_failed() const;

  std::string_view text_;
  const Limits& limits_;
  yaml_parser_t parser_{};
  bool ready_ = false;
  std::vector<YamlDocument> documents_;
  std::map<std::string, Anchor, std::less<>> anchors_;
  std::vector<Value> values_;
  std::vector<Frame> frames_;
  std::size_t aliased_bytes_ = 0;
  bool is_empty_ = false;  // the document so far
};

Result<std::vector<YamlDocument>> YamlReader::read() {
  if (!ready_) return fail(Reason::InternalError, "yaml: out of memory");
  while (true) {
    YamlEvent event;
    if (!yaml_parser_parse(&parser_, &event.raw)) return parser_failed();
    if (event.raw.type == YAML_STREAM_END_EVENT) return std::move(documents_);
    SLIPWAY_TRY_VOID(take(event.raw));
  }
}

Result<void> YamlReader::take(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      anchors_.clear();
      values_.clear();
      documents_.push_back({.value = {}, .line = 0});
      is_empty_ = false;
      return {};
    case YAML_DOCUMENT_END_EVENT:
      documents_.back().value = std::move(values_.back());
      if (is_empty_) documents_.pop_back();
      return {};
    case YAML_SCALAR_EVENT:
      return scalar(event);
    case YAML_ALIAS_EVENT:
      return alias(event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
      return begin(event, event.type == YAML_MAPPING_START_EVENT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return end();
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
      break;
  }
  return {};
}

Result<void> YamlReader::begin(const yaml_event_t& event, bool is_mapping) {
  if (!frames_.empty() && frames_.back().wants_key) return failed(event.start_mark, "a mapping or sequence cannot be a key");
  if (frames_.size() >= limits_.max_depth) {
    return failed(event.start_mark, fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  if (documents_.back().line == 0) documents_.back().line = event.start_mark.line + 1;
  Frame frame;
  frame.is_mapping = frame.wants_key = is_mapping;
  frame.first_value = values_.size();
  frame.anchor = yaml_text(is_mapping ? event.data.mapping_start.anchor : event.data.sequence_start.anchor);
  if (!frame.anchor.empty()) anchors_[frame.anchor] = {};
  frames_.push_back(std::move(frame));
  return {};
}

Result<void> YamlReader::end() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  const std::span<Value> content = std::span(values_).subspan(frame.first_value);
  std::optional<std::size_t> repeated;
  Value made = frame.is_mapping ? Layout::object(content, &repeated) : Layout::array(content);
  values_.resize(frame.first_value);
  if (repeated) {
    return failed(frame.keys[*repeated], fmt::format("duplicate key {}", print(Layout::key(made, *repeated))));
  }
  if (!frame.merged.empty()) {
    ObjectBuilder joined;
    // set() keeps the last: those merged first win over later ones, keys of the mapping itself over all.
    for (const Value& source : frame.merged | std::views::reverse) {
      for (auto [key, value] : source.members()) joined.set(key, value);
    }
    for (auto [key, value] : made.members()) joined.set(key, value);
    made = joined.build();
  }
  frame.weight.bytes += 2;
  frame.weight.depth += 1;
  remember(frame.anchor, made, frame.weight);
  return add(std::move(made), frame.weight, {}, false);
}

Result<void> YamlReader::scalar(const yaml_event_t& event) {
  const auto& data = event.data.scalar;
  if (documents_.back().line == 0) {
    documents_.back().line = event.start_mark.line + 1;
    is_empty_ = data.length == 0 && data.plain_implicit && data.style == YAML_PLAIN_SCALAR_STYLE && data.anchor == nullptr;
  }
  SLIPWAY_TRY(value, resolve(event));
  const Weight weight{data.length + 3, 0};
  remember(yaml_text(data.anchor), value, weight);
  const bool merge = data.style == YAML_PLAIN_SCALAR_STYLE && yaml_text(data.value) == "<<" &&
                     (data.plain_implicit || yaml_text(data.tag) == "tag:yaml.org,2002:merge");
  return add(std::move(value), weight, event.start_mark, merge);
}

Result<void> YamlReader::alias(const yaml_event_t& event) {
  const std::string_view name = yaml_text(event.data.alias.anchor);
  if (documents_.back().line == 0) documents_.back().line = event.start_mark.line + 1;
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) return failed(event.start_mark, fmt::format("unknown anchor '{}' referenced", name));
  const Anchor& anchor = found->second;
  if (!anchor.complete) return failed(event.start_mark, fmt::format("anchor '{}' value contains itself", name));
  aliased_bytes_ += anchor.weight.bytes;
  if (aliased_bytes_ > limits_.max_bytes) {
    return failed(event.start_mark, fmt::format("aliases expand to more than {} bytes", limits_.max_bytes));
  }
  if (frames_.size() + anchor.weight.depth > limits_.max_depth) {
    return failed(event.start_mark, fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  return add(anchor.value, anchor.weight, event.start_mark, false);
}

Result<void> YamlReader::add(Value value, Weight weight, const yaml_mark_t& mark, bool is_merge_key) {
  if (frames_.empty()) {
    if (value.type() == Type::Double && !std::isfinite(value.as_double()))
      return failed(mark, "infinity and NaN have no JSON form");
    values_.push_back(std::move(value));
    return {};
  }
  Frame& frame = frames_.back();
  frame.weight.bytes += weight.bytes;
  frame.weight.depth = std::max(frame.weight.depth, weight.depth);
  if (frame.wants_key) return add_key(value, mark, is_merge_key);
  if (value.type() == Type::Double && !std::isfinite(value.as_double()))
    return failed(mark, "infinity and NaN have no JSON form");
  if (frame.is_mapping) frame.wants_key = true;
  if (std::exchange(frame.merges_next, false)) return add_merged(frame, value, mark);
  values_.push_back(std::move(value));
  return {};
}

Result<void> YamlReader::add_key(const Value& value, const yaml_mark_t& mark, bool is_merge_key) {
  Frame& frame = frames_.back();
  frame.wants_key = false;
  if (is_merge_key) {
    frame.merges_next = true;
    return {};
  }
  frame.keys.push_back(mark);
  if (value.is_string()) {
    values_.push_back(value);
  } else if (value.is_bool()) {
    values_.emplace_back(value.as_bool() ? "true" : "false");
  } else if (value.is_number()) {
    values_.emplace_back(number_key(value));
  } else {
    return failed(mark, value.is_null() ? "null cannot be a key" : "a mapping or sequence cannot be a key");
  }
  return {};
}

Result<void> YamlReader::add_merged(Frame& frame, const Value& value, const yaml_mark_t& mark) {
  if (value.is_object()) {
    frame.merged.push_back(value);
    return {};
  }
  const bool all_objects =
      value.is_array() && std::ranges::all_of(value.items(), [](const Value& item) { return item.is_object(); });
  if (!all_objects) return failed(mark, "map merge requires map or sequence of maps as the value");
  frame.merged.insert(frame.merged.end(), value.items().begin(), value.items().end());
  return {};
}

Result<Value> YamlReader::resolve(const yaml_event_t& event) {
  const auto& data = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
  const std::string_view tag = yaml_text(data.tag);
  if (!tag.empty()) return resolve_tagged(tag, text, event.start_mark);
  if (!data.plain_implicit) return Value(text);
  auto value = resolve_plain(text);
  return value ? std::move(*value) : Value(text);
}

Result<Value> YamlReader::resolve_tagged(std::string_view tag, std::string_view text, const yaml_mark_t& mark) {
  if (!tag.starts_with(kYamlTagPrefix)) return Value(text);
  tag.remove_prefix(kYamlTagPrefix.size());
  if (tag == "binary") {
    std::string bytes;
    std::string packed(text);
    std::erase_if(packed, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (!base64_decode(packed, bytes)) return failed(mark, "!!binary value contains invalid base64 data");
    return Value(bytes);
  }
  const bool resolvable = tag == "bool" || tag == "int" || tag == "float" || tag == "null";
  if (!resolvable) return Value(text);
  const auto value = resolve_plain(text);
  const bool fits =
      value &&
      ((tag == "bool" && value->is_bool()) || (tag == "null" && value->is_null()) || (tag == "float" && value->is_number()) ||
       (tag == "int" && value->is_number() && value->number_text().find_first_of(".eEn") == std::string::npos));
  if (!fits) return failed(mark, fmt::format("cannot decode `{}` as a !!{}", text.substr(0, 40), tag));
  return *value;
}

std::unexpected<Status> YamlReader::parser_failed() const {
  const std::string_view problem = parser_.problem ? parser_.problem : "unknown problem";
  if (parser_.error == YAML_READER_ERROR) {
    const std::string_view before = text_.substr(0, parser_.problem_offset);
    yaml_mark_t mark{};
    mark.line = static_cast<std::size_t>(std::ranges::count(before, '\n'));
    mark.column = before.size() - (before.rfind('\n') + 1);
    return failed(mark, problem);
  }
  const std::string_view context = parser_.context ? parser_.context : "";
  return failed(parser_.problem_mark, fmt::format("{}{}{}", problem, context.empty() ? "" : " ", context));
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

std::unexpected<Status> too_large(const Limits& limits) {
  return fail(Reason::RequestEntityTooLarge, fmt::format("Request entity too large: limit is {}", limits.max_bytes));
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml_all(std::string_view text, Limits limits) {
  if (text.size() > limits.max_bytes) return too_large(limits);
  std::optional<Status> json_error;
  if (looks_like_json(text)) {
    auto value = parse(text, limits);
    const std::size_t blank = text.find_first_not_of(" \t\r\n");
    const auto line = 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, blank), '\n'));
    if (value) return std::vector<YamlDocument>{{.value = std::move(*value), .line = line}};
    json_error = std::move(value).error();
  }
  auto documents = YamlReader(text, limits).read();
  if (!documents && json_error) return fail(std::move(*json_error));
  return documents;
}

Result<Value> parse_yaml(std::string_view text, Limits limits) {
  SLIPWAY_TRY(documents, parse_yaml_all(text, limits));
  if (documents.empty()) return Value();
  if (documents.size() == 1) return std::move(documents.front().value);
  return fail(Reason::BadRequest,
              fmt::format("yaml: line {}, column 1: expected one document, found another", documents[1].line));
}

}  // namespace slipway::json
