#include "cue/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cue/load/file_kind.h"
#include "cue/load/imports.h"
#include "cue/load/module.h"
#include "cue/load/paths.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue::load {
namespace {

class Loader {
 public:
  Loader(Files& files, const Request& request)
      : files_(files), request_(request), cwd_(normal(request.cwd)), module_(files, cwd_, request.tags) {}

  std::expected<Loaded, Errors> load() {
    if (!module_.errors().empty()) return std::unexpected(module_.errors());
    Loaded out;
    std::vector<SourceText> named;
    std::vector<std::string> packages;
    bool has_files = false;
    FileKind scope = FileKind::None;
    for (const std::string& argument : request_.arguments) {
      if (argument.size() > 1 && argument.ends_with(':') && argument.find('/') == std::string::npos) {
        scope = kind_of_scope(argument.substr(0, argument.size() - 1));
        if (scope == FileKind::Unsupported)
          return std::unexpected(one_error(fmt::format("unknown filetype {}", unknown_part(argument))));
        continue;
      }
      FileKind kind = scope != FileKind::None ? scope : argument == "-" ? FileKind::Cue : kind_of_extension(argument);
      has_files = has_files || kind != FileKind::None;
      if (kind == FileKind::None) {
        packages.push_back(argument);
      } else if (auto failed = add_file(argument, kind, named, out.data)) {
        return std::unexpected(std::move(*failed));
      }
    }
    out.has_data_files = !out.data.empty() || has_streams_;
    // An empty file of YAML is null on its own, and nothing beside others.
    bool has_others =
        !named.empty() || !packages.empty() ||
        std::any_of(out.data.begin(), out.data.end(), [&](const SourceText& one) { return !empty_.contains(one.name); });
    if (has_others) {
      auto is_empty = [&](const SourceText& one) { return empty_.contains(one.name); };
      std::ranges::copy_if(out.data, std::back_inserter(out.empty), is_empty);
      std::erase_if(out.data, is_empty);
    }
    for (const std::string& one : packages) {
      bool is_path = one.starts_with('.') || one.find('/') != std::string::npos || one.find('.') != std::string::npos ||
                     one.find(':') != std::string::npos;
      if (!named.empty() && !one.empty() && !is_path) {
        return std::unexpected(
            one_error(fmt::format("standard library import path \"{}\" cannot be imported as a CUE package", one)));
      }
    }
    if (packages.empty() && named.empty() && out.data.empty() && !has_files) packages.push_back(".");
    if (!named.empty() && packages.empty()) {
      if (auto failed = add_named(std::move(named), out)) return std::unexpected(std::move(*failed));
    }
    for (const std::string& one : packages) {
      if (auto failed = add_packages(one, out.instances)) return std::unexpected(std::move(*failed));
    }
    // Files named beside packages belong to each of them.
    for (Instance& one : out.instances) {
      if (!packages.empty()) one.files.insert(one.files.end(), named.begin(), named.end());
    }
    for (Instance& one : out.instances) {
      if (auto failed = Imports(module_).add(one.files, one.packages)) return std::unexpected(std::move(*failed));
    }
    return out;
  }

 private:
  using Failure = std::optional<Errors>;

  // Why a file that is named is left out; empty when it is not.
  static std::string exclusion(const SourceText& source, const Head& head) {
    if (source.name.ends_with("_tool.cue")) return "_tool.cue files excluded in non-cmd mode";
    if (source.name.ends_with("_test.cue")) return "_test.cue files excluded in non-test mode";
    if (!head.is_ignored) return "";
    return head.condition.empty() ? "@ignore() attribute found" : head.condition + " did not match";
  }

  // Files named one by one are one package.
  Failure add_named(std::vector<SourceText> all, Loaded& out) {
    Instance instance;
    std::string first;     // file with a package clause
    std::string excluded;  // files, each with its reason
    std::vector<SourceText> named;
    for (SourceText& one : all) {
      Head head = module_.head_of(one);
      if (!head.errors.empty()) return std::move(head.errors);
      if (std::string why = exclusion(one, head); !why.empty()) {
        excluded += fmt::format("\n    {}: {}", one.name, why);
        continue;
      }
      if (!head.package.empty() && !instance.name.empty() && head.package != instance.name) {
        return one_error(fmt::format("found packages \"{}\" ({}) and \"{}\" ({}) in \".\"", instance.name, last_element(first),
                                     head.package, last_element(one.name)));
      }
      if (!head.package.empty() && instance.name.empty()) first = one.name;
      if (!head.package.empty()) instance.name = head.package;
      bool clashes =
          !head.package.empty() && !request_.package.empty() && head.package != request_.package && !out.data.empty();
      if (clashes && !request_.is_forced) {
        return one_error(
            fmt::format("\"package\" flag clashes with existing package name ({} vs {})", request_.package, head.package));
      }
      named.push_back(std::move(one));
    }
    if (named.empty())
      return one_error(fmt::format("build constraints exclude all CUE files in command-line-arguments:{}", excluded));
    // In whatever order they are named: a folder's files, then those of the folders below.
    std::sort(named.begin(), named.end(), [](const SourceText& a, const SourceText& b) {
      return std::pair(parent(a.name), a.name) < std::pair(parent(b.name), b.name);
    });
    instance.files = std::move(named);
    out.instances.push_back(std::move(instance));
    return {};
  }

  Failure add_file(const std::string& argument, FileKind kind, std::vector<SourceText>& named, std::vector<SourceText>& data) {
    SourceText source{"-", request_.input};
    if (kind == FileKind::Unsupported)
      return one_error(fmt::format("files like {} are not supported (JSON, YAML, CUE and text are)", argument));
    if (argument != "-" && argument != "/dev/stdin") {
      std::string path = joined(cwd_, argument);
      auto text = files_.read(path);
      if (!text && files_.list(path)) return one_error(fmt::format("read {}: is a directory", argument));
      if (!text && files_.exists(path)) return one_error(fmt::format("cannot read {}: {}", argument, text.error().message));
      if (!text) return one_error(fmt::format("no such file or directory: {}", argument));
      source = {shown(path, cwd_), *text};
    }
    if (kind == FileKind::Cue && is_binary(source.text)) return binary(source.name);
    if (kind == FileKind::Cue) {
      named.push_back(std::move(source));
      return {};
    }
    if (kind == FileKind::JsonLines) has_streams_ = true;
    if (kind != FileKind::Text && source.text.starts_with("\xEF\xBB\xBF")) source.text.erase(0, 3);
    if (kind != FileKind::Text) source.text = replace_invalid(source.text);
    if (kind == FileKind::Yaml && is_empty_yaml(source.text)) empty_.insert(source.name);
    for (SourceText& one : values_of(std::move(source), kind)) data.push_back(std::move(one));
    return {};
  }

  // The files of one package in a folder, and of that package in the folders above it up to the module's root.
  std::expected<Instance, Errors> package_in(const std::string& folder, std::string wanted, const std::string& argument) {
    std::vector<Candidate> all = module_.candidates(folder);
    std::map<std::string, std::string> names;  // package → a file of it
    for (const Candidate& one : all) {
      if (!one.errors.empty()) return std::unexpected(one.errors);
      if (!one.package.empty()) names.try_emplace(one.package, std::string(last_element(one.source.name)));
    }
    if (wanted.empty() && names.size() > 1 && names.contains(std::string(last_element(folder))) && folder != cwd_)
      wanted = last_element(folder);
    if (wanted.empty() && names.size() > 1) {
      std::string list;
      for (const auto& [package, file] : names)
        list += fmt::format("{}\"{}\" ({})", list.empty() ? "" : " and ", package, file);
      return std::unexpected(one_error(fmt::format("found packages {} in {}", list, shown_folder(folder))));
    }
    bool may_be_other = !request_.package.empty() && wanted == request_.package && argument.find(':') == std::string::npos;
    if ((wanted.empty() || may_be_other) && names.size() == 1) wanted = names.begin()->first;
    Instance instance;
    instance.name = wanted == "_" ? "" : wanted;
    std::vector<SourceText> above;
    for (std::string at = folder;
         !wanted.empty() && wanted != "_" && !module_.root().empty() && at != module_.root() && at != "/" && at != ".";) {
      at = parent(at);
      for (Candidate& one : module_.candidates(at)) {
        if (one.package == wanted) above.push_back(std::move(one.source));
      }
    }
    instance.files = std::move(above);
    std::size_t before = instance.files.size();
    for (Candidate& one : all) {
      if (one.package == instance.name) instance.files.push_back(std::move(one.source));
    }
    if (instance.files.size() > before || instance.name.empty()) {
      if (!instance.files.empty()) return instance;
    }
    std::string why;
    for (const Candidate& one : all)
      why += fmt::format("\n    {}: package is {}, want {}", one.source.name, one.package, instance.name);
    for (const auto& [name, condition] : module_.excluded(folder))
      why += fmt::format("\n    {}: {} did not match", name, condition);
    std::string shown_argument = argument.starts_with(".:") ? "." : argument;
    if (why.empty()) return std::unexpected(one_error(fmt::format("no CUE files in {}", shown_argument)));
    return std::unexpected(one_error(fmt::format("build constraints exclude all CUE files in {}:{}", shown_argument, why)));
  }

  static std::string without_dot(std::string path) { return path.starts_with("./") ? path.substr(2) : path; }
  std::string shown_folder(const std::string& folder) const {
    return folder == cwd_ ? "\".\"" : "\"" + without_dot(shown(folder, cwd_)) + "\"";
  }

  Failure add_packages(const std::string& argument, std::vector<Instance>& out) {
    if (argument.empty()) return one_error("empty file name");
    std::string path = argument;
    std::string wanted = request_.package;
    std::size_t colon = path.rfind(':');
    if (colon != std::string::npos) {
      wanted = path.substr(colon + 1);
      path = colon == 0 ? "." : path.substr(0, colon);
    }
    if (path.find("...") != std::string::npos) return add_pattern(path, wanted, argument, out);
    std::string folder;
    bool is_local = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../") || path.starts_with('/');
    if (is_local) {
      folder = joined(cwd_, path);
      if (!files_.exists(folder)) return one_error(fmt::format("cannot find package \"{}\": directory not found", argument));
      if (!files_.list(folder)) return one_error(fmt::format("{} is a file and not a package directory", argument));
      bool is_outside = !module_.root().empty() && module_.root() != "/" && folder != module_.root() &&
                        !folder.starts_with(module_.root() + "/");
      if (is_outside) return one_error(fmt::format("cannot determine import path for \"{}\" (dir outside of root)", argument));
      if (module_.is_in_nested_module(folder))
        return one_error(fmt::format("cannot determine import path for \"{}\" (directory is in a nested module)", argument));
    } else {
      if (auto at = path.find('@'); at != std::string::npos) path.resize(at);
      while (path.ends_with('/')) path.pop_back();
      auto found = module_.folder_of_import(path);
      bool is_standard = path.substr(0, path.find('/')).find('.') == std::string::npos;
      // Without a folder in it, it might have been meant as a file.
      if (path.find('/') == std::string::npos && !is_standard && path == argument)
        return one_error(fmt::format("unknown file extension {}", path.substr(path.rfind('.'))));
      if (wanted == "_") return one_error(fmt::format("invalid import path qualifier _ in \"{}\"", argument));
      if (!found && is_standard)
        return one_error(fmt::format("standard library import path \"{}\" cannot be imported as a CUE package", argument));
      if (!found) return one_error(fmt::format("cannot find package \"{}\"", argument));
      folder = *found;
      // An import path names its package.
      if (wanted.empty()) wanted = last_element(path);
      if (!is_identifier(wanted)) {
        return one_error(fmt::format("cannot determine package name for \"{}\"; set it explicitly with ':'", argument));
      }
      std::vector<Candidate> all = module_.candidates(folder);
      bool is_there = std::any_of(all.begin(), all.end(), [&](const Candidate& one) { return one.package == wanted; });
      if (!is_there) {
        return one_error(fmt::format("cannot find package \"{}\": no files in package directory with package name \"{}\"",
                                     argument, wanted));
      }
    }
    auto instance = package_in(folder, wanted, argument);
    if (!instance) return std::move(instance).error();
    out.push_back(std::move(*instance));
    return {};
  }

  // "./...": every folder with a package, in order.
  Failure add_pattern(const std::string& path, const std::string& wanted, const std::string& argument,
                      std::vector<Instance>& out) {
    std::string fixed = path.substr(0, path.find("..."));
    std::string rest = path.substr(path.find("...") + 3);
    std::string top = fixed.ends_with('/') ? fixed.substr(0, fixed.size() - 1) : parent(fixed);
    if (!path.starts_with(".") && !path.starts_with("/")) {
      auto found = module_.folder_of_import(top);
      if (!found) return one_error(fmt::format("cue: \"{}\" matched no packages", argument));
      top = *found;
    }
    std::vector<std::string> folders;
    walk(joined(cwd_, top.empty() ? "." : top), folders, 0);
    std::size_t before = out.size();
    for (const std::string& folder : folders) {
      if (!rest.empty() && !folder.ends_with(rest)) continue;
      std::set<std::string> names;
      for (const Candidate& one : module_.candidates(folder)) {
        if (!one.errors.empty()) return one.errors;
        if (!one.package.empty() && (wanted.empty() || wanted == "*" || one.package == wanted)) names.insert(one.package);
      }
      for (const std::string& name : names) {
        auto instance = package_in(folder, name, argument);
        if (!instance) return std::move(instance).error();
        out.push_back(std::move(*instance));
      }
    }
    if (out.size() == before) return one_error(fmt::format("cue: \"{}\" matched no packages", argument));
    return {};
  }

  void walk(const std::string& folder, std::vector<std::string>& out, int depth) {
    if (depth > 50) return;
    out.push_back(folder);
    auto names = files_.list(folder);
    if (!names) return;
    for (const std::string& name : *names) {
      std::string path = joined(folder, name);
      bool is_hidden = name[0] == '_' || name[0] == '.' || name == "cue.mod";
      if (!is_hidden && files_.list(path) && !files_.exists(joined(path, "cue.mod"))) walk(path, out, depth + 1);
    }
  }

  Files& files_;
  const Request& request_;
  std::string cwd_;
  Module module_;
  std::set<std::string> empty_;  // files of YAML without a document
  bool has_streams_ = false;     // a file of JSON lines was named
};

}  // namespace

std::expected<Loaded, Errors> load(Files& files, const Request& request) { return Loader(files, request).load(); }

}  // namespace slipway::cue::load
