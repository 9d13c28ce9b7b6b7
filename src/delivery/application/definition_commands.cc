#include "delivery/application/definition_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/kind.h"
#include "delivery/application/offline_render.h"
#include "delivery/application/settings.h"
#include "delivery/application/terraform_template.h"
#include "delivery/family/text.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr int kBadDefinition = 2;
constexpr const char* kDescription = "definition.oam.dev/description";

/// The definitions of a file: one in CUE, or those among the documents of a YAML file.
Result<std::vector<Value>> read_file(Files& files, const std::string& path) {
  SLIPWAY_TRY(text, files.read(path));
  if (path.ends_with(".cue")) {
    SLIPWAY_TRY(object, definition_from_cue(path, text));
    return std::vector<Value>{object};
  }
  auto documents = json::parse_yaml_all(text);
  if (!documents) return fail(Reason::BadRequest, fmt::format("{}: {}", path, documents.error().message));
  std::vector<Value> found;
  for (const json::YamlDocument& document : *documents) {
    if (definition_kind_of(document.value)) found.push_back(document.value);
  }
  if (found.empty()) return fail(Reason::BadRequest, fmt::format("{}: there is no definition in it", path));
  return found;
}

Result<std::vector<Value>> read_files(const CommandCall& call) {
  std::vector<Value> all;
  for (const std::string& path : call.words) {
    SLIPWAY_TRY(some, read_file(call.env.files, path));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Empty when nothing is wrong.
std::string definition_fault(const Value& object) {
  workflow::Templates templates;
  const auto read = read_definition(object, templates);
  return read ? (*read)->fault : read.error().message;
}

std::string definition_title(const Value& object) { return fmt::format("{} {}", kube::kind(object), kube::name(object)); }

Task<Result<CommandAnswer>> vet(CommandCall call) {
  CommandAnswer answer;
  for (const std::string& path : call.words) {
    const auto objects = read_file(call.env.files, path);
    if (!objects) answer.notes.push_back("slipway: " + objects.error().message);
    if (!objects) answer.exit_code = kBadDefinition;
    for (const Value& object : objects ? *objects : std::vector<Value>{}) {
      const std::string fault = definition_fault(object);
      if (fault.empty()) {
        answer.text += fmt::format("{}: {}: no faults\n", path, definition_title(object));
        continue;
      }
      answer.notes.push_back(fmt::format("slipway: {}: {}: {}", path, definition_title(object), fault));
      answer.exit_code = kBadDefinition;
    }
  }
  co_return answer;
}

Task<Result<CommandAnswer>> render_files(CommandCall call) {
  SLIPWAY_CO_TRY(objects, read_files(call));
  CommandAnswer answer;
  for (const Value& object : objects) answer.text += (objects.size() > 1 ? "---\n" : "") + json::print_yaml(object);
  co_return answer;
}

/// Unless a namespace is given, definitions are for all namespaces: in `shared`.
std::string namespace_of(const CommandCall& call, const Value& object, const std::string& shared) {
  if (const auto given = call.options.find("in"); given != call.options.end()) return given->second;
  return kube::ns(object).empty() ? shared : std::string(kube::ns(object));
}

Task<Result<void>> make_namespace(client::Client& client, std::string name) {
  const Value object =
      json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", name}})}});
  auto made = co_await client::create(client, {"", "v1", "namespaces"}, object, kManager);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  co_return Result<void>{};
}

Task<Result<CommandAnswer>> apply(CommandCall call) {
  SLIPWAY_CO_TRY(settings, read_settings(call.options));
  const std::string& shared = settings.definition_namespace;
  SLIPWAY_CO_TRY(objects, read_files(call));
  for (const Value& object : objects) {
    if (const std::string fault = definition_fault(object); !fault.empty()) {
      co_return fail(Reason::Invalid, fmt::format("{}: {}", definition_title(object), fault));
    }
  }
  CommandAnswer answer;
  for (const Value& object : objects) {
    const std::string ns = namespace_of(call, object, shared);
    if (ns == shared) SLIPWAY_CO_TRY_VOID(co_await make_namespace(*call.client, ns));
    const Value placed = object.with_path({"metadata", "namespace"}, ns);
    SLIPWAY_CO_TRY_VOID(co_await client::apply(*call.client, resource_of(*definition_kind_of(object)), placed, "slipway"));
    answer.text += fmt::format("{} applied in namespace {}\n", definition_title(object), ns);
  }
  co_return answer;
}

/// Those of the cluster, where one was named, then the built-in ones that none of it hides.
Task<Result<std::vector<Value>>> all_definitions(CommandCall call) {
  std::vector<Value> all;
  const auto is_known = [&](const Value& object) {
    return std::ranges::any_of(
        all, [&](const Value& one) { return kube::kind(one) == kube::kind(object) && kube::name(one) == kube::name(object); });
  };
  for (const DefinitionKind kind :
       {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy, DefinitionKind::WorkflowStep}) {
    if (call.client == nullptr) break;
    SLIPWAY_CO_TRY(list, co_await client::list(*call.client, resource_of(kind), {}));
    for (const Value& item : list["items"].items()) {
      all.push_back(item.with("apiVersion", kApiVersion).with("kind", kind_of(kind)));
    }
  }
  for (const Value& object : builtin_definitions()) {
    if (!is_known(object)) all.push_back(object.without_path({"metadata", "namespace"}));
  }
  co_return all;
}

Task<Result<CommandAnswer>> list(CommandCall call) {
  SLIPWAY_CO_TRY(all, co_await all_definitions(call));
  std::ranges::sort(all, {}, [](const Value& one) {
    return std::tuple(std::string(kube::kind(one)), std::string(kube::name(one)), std::string(kube::ns(one)));
  });
  std::vector<std::vector<std::string>> rows = {{"NAME", "KIND", "NAMESPACE", "DESCRIPTION"}};
  for (const Value& one : all) {
    rows.push_back({std::string(kube::name(one)), std::string(kube::kind(one)),
                    kube::ns(one).empty() ? "(built in)" : std::string(kube::ns(one)),
                    one_line(std::string(kube::annotation(one, kDescription)))});
  }
  co_return CommandAnswer{.text = aligned(rows)};
}

/// A file, or the definitions of a name: several kinds may have one.
Task<Result<std::vector<Value>>> named(CommandCall call) {
  std::vector<Value> found;
  for (const std::string& word : call.words) {
    if (call.env.files.exists(word)) {
      SLIPWAY_CO_TRY(some, read_file(call.env.files, word));
      found.insert(found.end(), some.begin(), some.end());
      continue;
    }
    SLIPWAY_CO_TRY(all, co_await all_definitions(call));
    const std::size_t before = found.size();
    std::ranges::copy_if(all, std::back_inserter(found), [&](const Value& one) { return kube::name(one) == word; });
    if (found.size() == before) {
      co_return fail(
          Reason::NotFound,
          fmt::format("there is no definition {}, and no file of that name; `slipway def list` shows what there is", word));
    }
  }
  co_return found;
}

Task<Result<CommandAnswer>> show(CommandCall call) {
  const auto form = call.options.find("output");
  SLIPWAY_CO_TRY(objects, co_await named(call));
  CommandAnswer answer;
  for (const Value& object : objects) {
    if (!answer.text.empty()) answer.text += form == call.options.end() ? "\n" : "---\n";
    if (form != call.options.end()) {
      answer.text += json::print_yaml(object.without_path({"metadata", "managedFields"}));
      continue;
    }
    answer.text +=
        fmt::format("{}\n{}\n\n", definition_title(object), one_line(std::string(kube::annotation(object, kDescription))));
    std::vector<std::vector<std::string>> rows = {{"PARAMETER", "TYPE", "NEEDED", "MEANING"}};
    for (const ParameterDoc& doc : parameter_docs(template_of(object))) {
      const bool has_default = doc.type.contains('*');
      rows.push_back({doc.name, doc.type, doc.is_optional || has_default ? "no" : "yes", doc.usage});
    }
    answer.text += rows.size() > 1 ? aligned(rows) : "It takes no parameters.\n";
  }
  co_return answer;
}

Task<Result<CommandAnswer>> document(CommandCall call) {
  SLIPWAY_CO_TRY(objects, co_await (call.words.empty() ? all_definitions(call) : named(call)));
  co_return CommandAnswer{.text = definitions_reference(std::move(objects))};
}

}  // namespace

std::vector<Command> definition_commands() {
  using Cluster = Command::Cluster;
  const auto words = Command::Input::Words;
  return {{.verb = "def vet",
           .help = "say what is wrong with definitions in files (CUE as `vela def` has it, or YAML)",
           .input = words,
           .words_name = "FILE",
           .words_help = "files",
           .run = vet},
          {.verb = "def render",
           .help = "print definitions in files as objects",
           .input = words,
           .words_name = "FILE",
           .words_help = "files",
           .run = render_files},
          {.verb = "def apply",
           .help = "vet definitions in files and apply them to a cluster",
           .cluster = Cluster::Always,
           .input = words,
           .words_name = "FILE",
           .words_help = "files",
           .options = {{.name = "in",
                        .help = "namespace of the definitions (default: as written, else that of --definition-namespace)"},
                       definition_namespace_option()},
           .run = apply,
           .only_reads = false},
          {.verb = "def list",
           .help = "list the built-in definitions and, where a cluster is named, its own",
           .cluster = Cluster::IfNamed,
           .input = Command::Input::None,
           .run = list},
          {.verb = "def show",
           .help = "describe definitions and their parameters",
           .cluster = Cluster::IfNamed,
           .input = words,
           .words_name = "NAME",
           .words_help = "names, or files",
           .options = {{.name = "output", .help = "yaml: the object"}},
           .run = show},
          {.verb = "def gen-docs",
           .help = "write a reference of definitions, or of all that there are, as Markdown",
           .cluster = Cluster::IfNamed,
           .input = words,
           .words_name = "[NAME]",
           .words_help = "names, or files",
           .run = document}};
}

}  // namespace slipway::delivery::application
