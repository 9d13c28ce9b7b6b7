// `slipway pkg …` and `slipway repo …` against a server, with the verbs and options of Porch's client (porchctl rpkg, repo).
// Each is the requests that Porch's client sends, so that it works with Porch's own server where that has what is asked for: a
// create is a POST with one task, pull and push are GET and PUT of the resources, an approval is a PUT of /approval. Beyond
// Porch: inbox, why, diff between revisions, and the review of many proposals by equal diffs. Folders are read and written only
// by pull, push and edit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/package/names.h"
#include "delivery/package/spec.h"
#include "delivery/package/status.h"

namespace slipway::delivery::package {

/// All of them.
std::vector<Command> commands();

// Parts of them.
std::vector<Command> create_commands();
std::vector<Command> content_commands();
std::vector<Command> lifecycle_commands();
std::vector<Command> reading_commands();
std::vector<Command> verdict_commands();
std::vector<Command> repository_commands();

/// A revision as a server shows it.
struct ShownRevision {
  kube::Object object{};
  RevisionSpec spec{};
  RevisionStatus status{};

  std::string name() const { return std::string(kube::name(object)); }
  Lifecycle lifecycle() const;
  PackageKey package() const { return {spec.repository, spec.package_name}; }
};
Result<ShownRevision> read_shown(const kube::Object& object);

/// What was given for an option, or "".
std::string option(const CommandCall& call, const std::string& name);
bool has_flag(const CommandCall& call, const std::string& name);
std::vector<std::string> lines_of(const CommandCall& call, const std::string& name);
/// BadRequest unless the option is absent or one of these.
Result<void> check_option(const CommandCall& call, const std::string& name, const std::vector<std::string>& allowed);

/// The value of a described enum with that name on the wire.
template <class E>
std::optional<E> enum_value(std::string_view text) {
  for (const auto& [value, name] : describe_enum(E{})) {
    if (name == text) return static_cast<E>(value);
  }
  return std::nullopt;
}

/// NAME, packagerevision/NAME or packagerevisions/NAME.
std::string plain_name(std::string_view word);
/// The words, `count` of them. BadRequest with the command's form otherwise.
Result<std::vector<std::string>> words_of(const CommandCall& call, std::size_t count, std::string_view form);

Task<Result<ShownRevision>> fetch_revision(client::Client& client, std::string ns, std::string name);
/// Those in the namespace ("": all), sorted by name; `fields` and `labels` are selectors.
Task<Result<std::vector<ShownRevision>>> fetch_revisions(client::Client& client, std::string ns, std::string fields,
                                                         std::string labels);
/// The files of a revision, with the object that they came in, and what the server warns of: files that it does not show.
struct ShownFiles {
  kube::Object object{};
  std::map<std::string, std::string> files{};
  std::vector<std::string> warnings{};
};
Task<Result<ShownFiles>> fetch_files(client::Client& client, std::string ns, std::string name);

/// A change of a revision as a whole-object PUT, of /approval when `subresource` says so.
Task<Result<client::Reply>> put_revision_object(client::Client& client, kube::Object object, std::string subresource = "");

/// How a command is called and what it is given.
struct CommandForm {
  std::string verb{};
  std::string help{};
  std::string words_name{};
  std::string words_help{};
  std::vector<CommandOption> options{};
};
using CommandRun = std::function<Task<Result<CommandAnswer>>(CommandCall call)>;
Command looking(CommandForm form, CommandRun run);
Command changing(CommandForm form, CommandRun run);

inline constexpr const char* kCommandManager = "slipway-pkg";

}  // namespace slipway::delivery::package
