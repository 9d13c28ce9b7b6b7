#include "delivery/package/render_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"

namespace slipway::delivery::package {
namespace {

ResultItem kept_item(ResultItem item) {
  item.message = cut_text(std::move(item.message), kMaxResultTextBytes);
  if (item.field) {
    item.field->current_value = cut_text(std::move(item.field->current_value), kMaxResultTextBytes);
    item.field->proposed_value = cut_text(std::move(item.field->proposed_value), kMaxResultTextBytes);
  }
  item.tags.clear();
  return item;
}

std::size_t count_of(const RenderStatus& status, std::string_view severity) {
  std::size_t count = 0;
  for (const FunctionResult& one : status.result.items) {
    count += static_cast<std::size_t>(std::ranges::count(one.results, severity, &ResultItem::severity));
  }
  return count;
}

}  // namespace

std::string cut_text(std::string text, std::size_t max) {
  if (text.size() <= max) return text;
  std::size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  text.resize(end);
  return text + " …";
}

std::optional<RenderStatus> kept_render(const RenderStatus& status) {
  if (status.result.items.empty() && status.error.empty()) return std::nullopt;
  RenderStatus kept{.error = status.error};
  kept.result = {.api_version = status.result.api_version,
                 .kind = status.result.kind,
                 .metadata = status.result.metadata,
                 .exit_code = status.result.exit_code};
  std::size_t room = kMaxResults;
  std::size_t left_out = 0;
  for (const FunctionResult& one : status.result.items) {
    if (kept.result.items.size() == kMaxFunctions) {
      left_out += one.results.size();
      continue;
    }
    FunctionResult made{.image = one.image,
                        .exec = one.exec,
                        .stderr_text = cut_text(one.stderr_text, kMaxErrorBytes),
                        .exit_code = one.exit_code};
    for (const ResultItem& item : one.results) {
      if (room == 0) {
        ++left_out;
        continue;
      }
      --room;
      made.results.push_back(kept_item(item));
    }
    kept.result.items.push_back(std::move(made));
  }
  if (left_out > 0) {
    kept.result.items.back().results.push_back(
        {.message = fmt::format("{} more results are left out: render the package to see them", left_out), .severity = "info"});
  }
  return kept;
}

std::optional<Condition> rendered_condition(Render render, const std::optional<RenderStatus>& status,
                                            const std::string& error) {
  if (render != Render::Passed && render != Render::Failed) return std::nullopt;
  const bool has_passed = render == Render::Passed;
  Condition made{.type = std::string(kRendered),
                 .status = has_passed ? Truth::True : Truth::False,
                 .reason = has_passed ? "RenderSuccess" : "RenderFailed"};
  if (!has_passed) made.message = one_line(error);
  if (!has_passed || !status) return made;
  const std::size_t functions = status->result.items.size();
  made.message = fmt::format("{} function{} passed", functions, functions == 1 ? "" : "s");
  const std::size_t warnings = count_of(*status, "warning");
  if (warnings > 0) made.message += fmt::format(", {} warning{}", warnings, warnings == 1 ? "" : "s");
  return made;
}

std::string result_line(const ResultItem& item) {
  std::string where;
  const auto add = [&](const std::string& text) { where += (where.empty() ? "" : ", ") + text; };
  if (item.object) {
    const ResultObject& object = *item.object;
    const std::string name = object.ns.empty() ? object.name : object.ns + "/" + object.name;
    add(std::string(trimmed(fmt::format("{} {} {}", object.api_version, object.kind, name))));
  }
  if (item.field && !item.field->path.empty()) add(item.field->path);
  if (item.file && !item.file->path.empty()) {
    const std::string document = item.file->index > 0 ? fmt::format(", document {}", item.file->index + 1) : "";
    where += fmt::format("{}({}{})", where.empty() ? "" : " ", item.file->path, document);
  }
  const std::string severity = item.severity.empty() ? "info" : item.severity;
  return fmt::format("[{}] {}{}{}", severity, where, where.empty() ? "" : ": ", item.message);
}

std::vector<std::string> function_lines(const ResultList& list) {
  std::vector<std::string> lines;
  for (const FunctionResult& one : list.items) {
    lines.push_back(fmt::format("[{}] {:?}", one.exit_code == 0 ? "PASS" : "FAIL", one.image.empty() ? one.exec : one.image));
    for (const ResultItem& item : one.results) lines.push_back("  " + result_line(item));
    if (!one.stderr_text.empty()) lines.push_back("  " + one.stderr_text);
  }
  return lines;
}

std::vector<std::string> error_lines(const ResultList& list) {
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  for (const FunctionResult& one : list.items) {
    for (const ResultItem& item : one.results) {
      if (item.severity != "error") continue;
      if (lines.size() == kMaxErrorLines) {
        ++left_out;
      } else {
        lines.push_back(result_line(kept_item(item)));
      }
    }
  }
  if (left_out > 0) lines.push_back(fmt::format("… and {} more errors", left_out));
  return lines;
}

}  // namespace slipway::delivery::package
