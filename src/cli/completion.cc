#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "kube/builtin.h"

namespace slipway::cli {
namespace {

constexpr const char* kBash = R"(_slipway() {{
  local current=${{COMP_WORDS[COMP_CWORD]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$current"))
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case ${{COMP_WORDS[1]}} in
      {cases}) COMPREPLY=($(compgen -W "{kinds}" -- "$current")) ;;
    esac
  fi
}}
complete -o default -F _slipway slipway
)";

constexpr const char* kZsh = R"(#compdef slipway
_slipway() {{
  if (( CURRENT == 2 )); then
    compadd -- {commands}
  elif (( CURRENT == 3 )); then
    case $words[2] in
      ({cases}) compadd -- {kinds} ;;
      (*) _files ;;
    esac
  else
    _files
  fi
}}
compdef _slipway slipway
)";

constexpr const char* kFish = R"(complete -c slipway -n __fish_use_subcommand -f -a "{commands}"
complete -c slipway -n "__fish_seen_subcommand_from {seen}" -f -a "{kinds}"
)";

}  // namespace

std::vector<std::string> kind_words(plane::Families of) {
  std::map<std::string, std::set<std::string>> groups;  // by plural
  for (const kube::ResourceType& type : kube::builtin_types()) groups[type.resource.plural];
  for (const kube::ResourceType& type : plane::own_types(of)) groups[type.resource.plural].insert(type.resource.group);
  std::vector<std::string> words;
  for (const auto& [plural, own] : groups) {
    if (own.size() < 2) {
      words.push_back(plural);
    } else {
      for (const std::string& group : own) words.push_back(fmt::format("{}.{}", plural, group));
    }
  }
  return words;
}

std::string completion_script(std::string_view shell, const CompletionWords& words) {
  const char* form = shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
  return fmt::format(fmt::runtime(form), fmt::arg("commands", fmt::join(words.commands, " ")),
                     fmt::arg("cases", fmt::join(words.on_objects, "|")), fmt::arg("seen", fmt::join(words.on_objects, " ")),
                     fmt::arg("kinds", fmt::join(words.kinds, " ")));
}

}  // namespace slipway::cli
