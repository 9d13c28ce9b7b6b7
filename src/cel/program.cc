#include "cel/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/checker.h"
#include "cel/estimate.h"
#include "cel/evaluator.h"
#include "cel/parser.h"

namespace slipway::cel {
namespace {

/// One issue as cel-go shows it: place, message, the line and a caret below.
std::string issue(std::string_view text, const Fault& fault) {
  const std::size_t place = std::min(fault.place, text.size());
  const std::string_view before = text.substr(0, place);
  const std::size_t line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t begin = line == 1 ? 0 : before.rfind('\n') + 1;
  const std::string_view shown = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t column = character_count(text.substr(begin, place - begin));
  return fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {}^", line, column + 1, fault.message, shown,
                     std::string(column, '.'));
}

}  // namespace

std::expected<std::shared_ptr<const Program>, std::string> Program::compile(std::string_view text,
                                                                            const Environment& environment) {
  auto program = std::make_shared<Program>();
  auto root = parse(text);
  if (!root) return std::unexpected(issue(text, root.error()));
  program->root_ = std::move(*root);
  std::vector<Fault> faults = check(*program->root_, environment, program->variables_);
  if (!faults.empty() && !environment.is_unchecked) {
    std::ranges::sort(faults, {}, &Fault::place);
    std::string all;
    for (const Fault& fault : faults) all += (all.empty() ? "" : "\n") + issue(text, fault);
    return std::unexpected(std::move(all));
  }
  return program;
}

std::uint64_t Program::max_cost(const TypePtr& self) const { return estimated_cost(*root_, self); }

Value Program::run(const Activation& variables, Budget& budget) const { return evaluate(*root_, variables, budget); }

}  // namespace slipway::cel
