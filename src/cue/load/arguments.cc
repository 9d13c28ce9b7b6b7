#include "cue/load/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace slipway::cue::load {
namespace {

// On which verbs' help a flag stands.
constexpr unsigned kEval = 1, kExport = 2, kVet = 4, kAll = kEval | kExport | kVet;

struct Flag {
  char letter;
  std::string_view name;
  std::string_view argument;  // empty: a switch
  unsigned verbs;
  std::string_view help;

  bool takes_value() const { return !argument.empty(); }
};
constexpr Flag kFlags[] = {
    {'e', "expression", "EXPR", kEval | kExport, "this instead of the whole value; may be repeated"},
    {'d', "schema", "EXPR", kAll, "check data against this"},
    {'p', "package", "NAME", kAll, "where a folder has several"},
    {'t', "inject", "NAME=TEXT", kAll, "value of an @tag attribute"},
    {'T', "inject-vars", "", kAll, "values of @tag(…,var=now|os|cwd|username|hostname|rand)"},
    {'l', "path", "LABEL", kAll, "put data under this label, or under what this expression over it gives"},
    {'\0', "with-context", "", kAll, "-l sees data, filename, index and recordCount"},
    {'\0', "list", "", kAll, "several values as one list"},
    {'\0', "merge", "", kAll, "data files into one value; =false: each stands for itself"},
    {'n', "name", "REGEXP", kAll, "data files of a folder: refused without a folder"},
    {'\0', "out", "FORM", kEval | kExport, "cue, json, yaml, text or jsonl"},
    {'o', "outfile", "FILE", kEval | kExport, "write there; the ending tells the form, - is standard output"},
    {'f', "force", "", kEval | kExport, "write over a file that is there"},
    {'\0', "escape", "", kExport, "< > & of JSON as \\u003c and so on"},
    {'c', "concrete", "", kEval | kVet, "every field must have one value; vet -c=false: none need have"},
    {'a', "all", "", kEval, "hidden and optional fields too"},
    {'H', "show-hidden", "", kEval, "hidden fields too"},
    {'O', "show-optional", "", kEval, "optional fields too"},
    {'A', "show-attributes", "", kEval, "attributes too"},
    {'s', "simplify", "", kAll, "fields alone in their struct on one line"},
    {'i', "ignore", "", kAll, "print in spite of errors"},
    {'E', "all-errors", "", kAll, "more than ten"},
    {'\0', "errors", "FORM", kAll, "json: errors as data; text"},
    {'\0', "legacy", "", kAll, "written for v0.5 to v0.9: lists may be added and multiplied"},
    {'v', "verbose", "", kAll, "accepted, changes nothing"},
    {'\0', "trace", "", kAll, "accepted, changes nothing"},
    {'\0', "strict", "", kAll, "accepted, changes nothing: it is about JSON Schema as input, which is not read"},
    {'C', "chdir", "FOLDER", kAll, "stand there; before everything else"},
    {'h', "help", "", kAll, "this text"}};

class ArgumentParser {
 public:
  explicit ArgumentParser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  std::expected<Options, std::string> parse() {
    if (arguments_.empty()) return std::unexpected("want eval, export or vet");
    if (std::string problem = chdir_first(); !problem.empty()) return std::unexpected(problem);
    if (arguments_.empty()) return std::unexpected("want eval, export or vet");
    const std::string& verb = arguments_[0];
    if (verb == "eval" || verb == "export" || verb == "vet") {
      options_.verb = verb == "eval" ? Verb::Eval : verb == "export" ? Verb::Export : Verb::Vet;
    } else {
      return std::unexpected(fmt::format("unknown command \"{}\"", verb));
    }
    verb_mask_ = options_.verb == Verb::Eval ? kEval : options_.verb == Verb::Export ? kExport : kVet;
    bool has_only_names = false;  // behind "--"
    for (std::size_t i = 1; i < arguments_.size(); ++i) {
      const std::string& one = arguments_[i];
      if (one == "--" && !has_only_names) {
        has_only_names = true;
        continue;
      }
      if (has_only_names || one.size() < 2 || one[0] != '-') {
        options_.request.arguments.push_back(one);
        continue;
      }
      std::string problem = one.starts_with("--") ? long_flag(one, i) : short_flags(one, i);
      if (!problem.empty()) return std::unexpected(problem);
    }
    if (options_.verb == Verb::Vet) options_.request.is_forced = true;  // it shows no package
    if (options_.has_context && options_.path.empty() && !options_.is_list)
      return std::unexpected("flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\"");
    return options_;
  }

 private:
  // Where the work is done is decided before anything else is read.
  std::string chdir_first() {
    auto is_chdir = [](const std::string& one) { return one == "-C" || one == "--chdir" || one.starts_with("-C="); };
    if (is_chdir(arguments_[0])) {
      std::size_t equals = arguments_[0].find('=');
      if (equals == std::string::npos && arguments_.size() < 2) return "flag needs an argument: 'C' in -C";
      options_.chdir = equals == std::string::npos ? arguments_[1] : arguments_[0].substr(equals + 1);
      arguments_.erase(arguments_.begin(), arguments_.begin() + (equals == std::string::npos ? 2 : 1));
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!is_chdir(arguments_[i])) continue;
      return fmt::format("invalid argument \"{}\" for \"-C, --chdir\" flag: must be the first argument",
                         i + 1 < arguments_.size() ? arguments_[i + 1] : "");
    }
    return "";
  }

  std::string long_flag(const std::string& text, std::size_t& i) {
    std::size_t equals = text.find('=');
    std::string name = text.substr(2, equals == std::string::npos ? std::string::npos : equals - 2);
    for (const Flag& flag : kFlags) {
      if (flag.name != name || (flag.verbs & verb_mask_) == 0) continue;
      std::optional<std::string> value;
      if (equals != std::string::npos) value = text.substr(equals + 1);
      if (flag.takes_value() && !value) {
        if (i + 1 >= arguments_.size()) return fmt::format("flag needs an argument: --{}", name);
        value = arguments_[++i];
      }
      return apply(flag.name, value);
    }
    return fmt::format("unknown flag: --{}", name);
  }

  std::string short_flags(const std::string& text, std::size_t& i) {
    for (std::size_t at = 1; at < text.size(); ++at) {
      const Flag* found = nullptr;
      for (const Flag& flag : kFlags) {
        if (flag.letter == text[at] && (flag.verbs & verb_mask_) != 0) found = &flag;
      }
      if (found == nullptr) return fmt::format("unknown shorthand flag: '{}' in {}", text[at], text);
      bool has_equals = at + 1 < text.size() && text[at + 1] == '=';
      if (!found->takes_value() && !has_equals) {
        if (std::string problem = apply(found->name, std::nullopt); !problem.empty()) return problem;
        continue;
      }
      std::string rest = text.substr(std::min(text.size(), at + (has_equals ? 2 : 1)));
      if (rest.empty() && found->takes_value() && !has_equals) {
        if (i + 1 >= arguments_.size()) return fmt::format("flag needs an argument: '{}' in {}", text[at], text);
        rest = arguments_[++i];
      }
      return apply(found->name, rest);
    }
    return "";
  }

  std::string apply(std::string_view name, const std::optional<std::string>& value) {
    bool is_on = !value || *value == "true";
    auto flag = std::ranges::find(kFlags, name, &Flag::name);
    if (flag->argument.empty() && value && *value != "true" && *value != "false")
      return fmt::format("invalid argument \"{}\" for --{}: want true or false", *value, name);
    if (name == "errors" && *value != "json" && *value != "text")
      return fmt::format("invalid argument \"{}\" for --errors: want json or text", *value);
    if (name == "expression" && !value->empty()) options_.expressions.push_back(*value);
    if (name == "schema" && !value->empty()) options_.schema.push_back(*value);
    if (name == "package") options_.request.package = *value;
    if (name == "inject") options_.request.tags.push_back(*value);
    if (name == "path") options_.path.push_back(*value);
    if (name == "outfile") options_.outfile = *value;
    if (name == "chdir") options_.chdir = *value;
    if (name == "out") options_.out = *value;
    if (name == "errors") options_.is_json_errors = *value == "json";
    if (name == "concrete") (is_on ? options_.is_concrete : options_.allows_incomplete) = true;
    if (name == "ignore") options_.ignores_errors = is_on;
    if (name == "show-hidden") options_.shows_hidden = is_on;
    if (name == "show-optional") options_.shows_optional = is_on;
    if (name == "all") options_.shows_hidden = options_.shows_optional = is_on;
    if (name == "all-errors") options_.shows_all_errors = is_on;
    if (name == "legacy") options_.is_legacy = is_on;
    if (name == "list") options_.is_list = is_on;
    if (name == "force") options_.is_forced = options_.request.is_forced = is_on;
    if (name == "simplify") options_.is_simplified = is_on;
    if (name == "merge") options_.is_apart = !is_on;
    if (name == "show-attributes") options_.shows_attributes = is_on;
    if (name == "escape") options_.has_escapes = is_on;
    if (name == "with-context") options_.has_context = is_on;
    if (name == "inject-vars") options_.has_variables = is_on;
    if (name == "name") options_.names_files = true;
    return "";
  }

  std::vector<std::string> arguments_;
  unsigned verb_mask_ = kAll;
  Options options_;
};

}  // namespace

std::expected<Options, std::string> parse_arguments(const std::vector<std::string>& arguments) {
  return ArgumentParser(arguments).parse();
}

std::string usage(std::string_view verb) {
  unsigned mask = verb == "eval" ? kEval : verb == "export" ? kExport : verb == "vet" ? kVet : kAll;
  std::string out = fmt::format("slipway cue {} [flags] [FILE|PACKAGE]…\n\n", mask == kAll ? "eval|export|vet" : verb);
  if ((mask & kEval) != 0) out += "  eval     print what files or a package come to\n";
  if ((mask & kExport) != 0) out += "  export   print data: JSON, YAML, text or CUE\n";
  if ((mask & kVet) != 0) out += "  vet      check files of the language, and data against them\n";
  out += "\n";
  for (const Flag& flag : kFlags) {
    if ((flag.verbs & mask) == 0) continue;
    std::string names =
        flag.letter != '\0' ? fmt::format("-{}, --{}", flag.letter, flag.name) : fmt::format("    --{}", flag.name);
    if (!flag.argument.empty()) names += fmt::format(" {}", flag.argument);
    out += fmt::format("  {:<24}  {}\n", names, flag.help);
  }
  return out;
}

}  // namespace slipway::cue::load
