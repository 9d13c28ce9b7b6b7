#include "delivery/pipeline/commit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/text.h"
#include "json/yaml_nodes.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::string_view kMarkerName = "$promotion";

/// A marker in the text, whether or not it stands at a field.
struct Marker {
  std::size_t hash = 0;  // offset of the "#"
  std::size_t line = 1;
  std::string value;  // what is to be set
};

/// A scalar of the file, in the order of the text.
struct Scalar {
  const json::YamlNode* node;
  bool is_value;  // of a mapping or an item of a list; not a key
};

/// One replacement of bytes.
struct Patch {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

void collect(const std::shared_ptr<const json::YamlNode>& node, bool is_value, std::vector<Scalar>& into) {
  if (!node) return;
  if (node->kind == json::YamlNode::Kind::Scalar) into.push_back({node.get(), is_value});
  for (std::size_t i = 0; i < node->children.size(); ++i) {
    const bool is_key = node->kind == json::YamlNode::Kind::Mapping && i % 2 == 0;
    collect(node->children[i], !is_key, into);
  }
}

std::string where(const std::string& file, std::size_t line) { return fmt::format("{}:{}", file, line); }

/// What the marker asks for; nothing when it is another environment's.
std::optional<Result<std::string>> wanted_value(std::string_view marker, const std::string& key, std::string_view version) {
  if (!marker.starts_with(key)) return std::nullopt;
  const std::string_view ending = marker.substr(key.size());
  if (ending.empty()) return std::string(version);
  if (ending != ":tag" && ending != ":name") return std::nullopt;
  const auto colon = version.rfind(':');
  const auto slash = version.rfind('/');
  const bool is_image = colon != std::string_view::npos && (slash == std::string_view::npos || slash < colon);
  if (is_image) return std::string(ending == ":tag" ? version.substr(colon + 1) : version.substr(0, colon));
  if (ending == ":tag") return std::string(version);
  return fail(Reason::Invalid, fmt::format("marker {} asks for the name of an image, but {} has none", marker, version));
}

/// Edits one file.
class FileEdit {
 public:
  FileEdit(const GitFile& file, const std::string& key, std::string_view version)
      : name_(file.path), text_(*file.content), key_(key), version_(version) {}

  void apply(MarkedEdit& into) {
    find_markers();
    if (!markers_.empty()) set_all();
    std::ranges::move(problems_, std::back_inserter(into.problems));
    if (!problems_.empty()) return;
    std::ranges::move(set_, std::back_inserter(into.set));
    std::ranges::move(current_, std::back_inserter(into.current));
    if (!patches_.empty()) into.changes.push_back({.path = name_, .content = patched()});
  }

 private:
  void problem(std::size_t line, std::string_view why) { problems_.push_back(fmt::format("{}: {}", where(name_, line), why)); }

  void find_markers() {
    std::size_t line = 1;
    for (std::size_t begin = 0; begin < text_.size(); ++line) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      find_marker(begin, end, line);
      begin = end + 1;
    }
  }

  void find_marker(std::size_t begin, std::size_t end, std::size_t line) {
    const std::string_view whole(text_.data() + begin, end - begin);
    if (!whole.contains(kMarkerName)) return;
    for (std::size_t at = whole.find('#'); at != std::string_view::npos; at = whole.find('#', at + 1)) {
      const std::string_view rest = trimmed(whole.substr(at + 1));
      if (!rest.starts_with('{') || !rest.contains(kMarkerName)) continue;
      const auto object = json::parse(rest);
      if (!object) {
        if (rest.contains(fmt::format("\"{}\"", key_))) problem(line, "the marker is not a JSON object and nothing else");
        return;
      }
      auto value = wanted_value((*object)[kMarkerName].as_string(), key_, version_);
      if (!value) return;
      if (*value) {
        markers_.push_back({begin + at, line, std::move(**value)});
      } else {
        problem(line, value->error().message);
      }
      return;
    }
  }

  void set_all() {
    const auto documents = json::parse_yaml_nodes(text_);
    if (!documents) {
      problems_.push_back(fmt::format("{}: {}", name_, documents.error().message));
      return;
    }
    std::vector<Scalar> scalars;
    for (const json::YamlNodeDocument& document : *documents) collect(document.root, false, scalars);
    // Aliases repeat a node with its first place; the order of places is what counts.
    std::ranges::sort(scalars, {}, [](const Scalar& one) { return std::pair(one.node->offset, one.is_value); });
    for (const Marker& marker : markers_) set_one(marker, scalars);
    if (problems_.empty() && !patches_.empty()) check(*documents);
  }

  void set_one(const Marker& marker, const std::vector<Scalar>& scalars) {
    const auto after = std::ranges::lower_bound(scalars, marker.hash, {}, [](const Scalar& one) { return one.node->offset; });
    if (after == scalars.begin()) return problem(marker.line, "the marker stands at no field");
    const Scalar& nearest = *std::prev(after);
    if (nearest.node->line != marker.line || !nearest.is_value) {
      return problem(marker.line, "the marker stands at no field with a value of its own");
    }
    const json::YamlNode& node = *nearest.node;
    const std::size_t begin = start_of(node);
    const std::string_view written = trimmed(std::string_view(text_).substr(begin, marker.hash - begin));
    const char quote = written.empty() ? '\0' : written.front();
    const bool is_quoted = quote == '"' || quote == '\'';
    if (is_quoted ? !is_one_quoted(written, quote) : written != node.text || written.empty()) {
      return problem(marker.line, "the marker stands at no field with a value of its own in one line");
    }
    MarkedField field{name_, marker.line, node.text, marker.value};
    if (node.text == marker.value) {
      current_.push_back(std::move(field));
      return;
    }
    patches_.push_back({begin, begin + written.size(), in_yaml(marker.value, is_quoted ? quote : '\0')});
    set_.push_back(std::move(field));
  }

  /// Past anchor and tag.
  std::size_t start_of(const json::YamlNode& node) const {
    std::size_t at = node.offset;
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
      at = std::min(text_.find_first_of(" \t\r\n", at), text_.size());
      at = std::min(text_.find_first_not_of(" \t", at), text_.size());
    }
    return at;
  }

  static bool is_one_quoted(std::string_view written, char quote) {
    for (std::size_t i = 1; i < written.size(); ++i) {
      if (quote == '"' && written[i] == '\\') {
        ++i;
      } else if (written[i] == quote) {
        if (quote == '\'' && i + 1 < written.size() && written[i + 1] == quote) {
          ++i;
          continue;
        }
        return i + 1 == written.size();
      }
    }
    return false;
  }

  static std::string in_yaml(const std::string& value, char quote) {
    if (quote == '\'' && !std::ranges::any_of(value, [](unsigned char c) { return c < 0x20; })) {
      std::string doubled;
      for (const char c : value) doubled.append(c == '\'' ? 2 : 1, c);
      return fmt::format("'{}'", doubled);
    }
    if (quote == '\0') {
      const auto read = json::parse_yaml(fmt::format("v: {} # c", value));
      if (read && (*read)["v"].is_string() && (*read)["v"].as_string() == value) return value;
    }
    return json::print(json::Value(value));
  }

  std::string patched() const {
    std::string result;
    std::size_t at = 0;
    for (const Patch& patch : patches_) {
      result.append(text_, at, patch.begin - at);
      result += patch.text;
      at = patch.end;
    }
    return result.append(text_, at);
  }

  /// The new text must be the old one with these values changed and no other: whatever the search above got wrong stops here.
  void check(const std::vector<json::YamlNodeDocument>& before) {
    const auto after = json::parse_yaml_nodes(patched());
    std::vector<Scalar> old_ones;
    std::vector<Scalar> new_ones;
    for (const auto& document : before) collect(document.root, false, old_ones);
    if (after) {
      for (const auto& document : *after) collect(document.root, false, new_ones);
    }
    std::size_t changed = 0;
    bool is_right = after.has_value() && old_ones.size() == new_ones.size();
    for (std::size_t i = 0; is_right && i < old_ones.size(); ++i) {
      if (old_ones[i].node->text == new_ones[i].node->text) continue;
      ++changed;
      is_right = std::ranges::any_of(set_, [&](const MarkedField& field) {
        return field.from == old_ones[i].node->text && field.to == new_ones[i].node->text;
      });
    }
    if (!is_right || changed < set_.size())
      problems_.push_back(fmt::format("{}: the marked fields cannot be set without changing others", name_));
  }

  const std::string& name_;
  const std::string& text_;
  const std::string& key_;
  std::string_view version_;
  std::vector<Marker> markers_;
  std::vector<Patch> patches_;
  std::vector<MarkedField> set_;
  std::vector<MarkedField> current_;
  std::vector<std::string> problems_;
};

/// Values of trailers are one line each.
std::string as_one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::string MarkerKey::to_string() const { return fmt::format("{}:{}:{}", ns, pipeline, environment); }

MarkedEdit set_marked_fields(const std::vector<GitFile>& files, const MarkerKey& key, std::string_view version) {
  MarkedEdit edit;
  const std::string text = key.to_string();
  for (const GitFile& file : files) {
    const bool is_yaml = file.path.ends_with(".yaml") || file.path.ends_with(".yml");
    const bool is_file = file.mode == GitMode::Regular || file.mode == GitMode::Executable;
    if (is_yaml && is_file && file.content && file.content->contains(text)) FileEdit(file, text, version).apply(edit);
  }
  return edit;
}

std::string PromotionText::subject() const {
  return as_one_line(fmt::format("promote {} {} to {}", app, version, marker.environment));
}

std::string PromotionText::trailers() const {
  return fmt::format("{}: {}\n{}: {}\n{}: {}\n{}: {}\n", kPromotionTrailer, as_one_line(key), kPipelineTrailer,
                     as_one_line(fmt::format("{}/{}", marker.ns, marker.pipeline)), kEnvironmentTrailer,
                     as_one_line(marker.environment), kVersionTrailer, as_one_line(version));
}

std::string PromotionText::message() const { return fmt::format("{}\n\n{}", subject(), trailers()); }

std::string trailer_of(std::string_view text, std::string_view name) {
  std::string found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(": ")) found = line.substr(name.size() + 2);
    begin = end + 1;
  }
  return found;
}

}  // namespace slipway::delivery::pipeline
