// pull, push, edit, diff: the files of a revision. A pulled folder has the file .KptRevisionMetadata, as Porch's client makes
// it: its resourceVersion is what a push is judged against.
#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/read_folder.h"
#include "delivery/package/commands.h"
#include "delivery/package/conditions.h"
#include "delivery/package/content.h"
#include "delivery/package/kind.h"
#include "delivery/package/render_result.h"
#include "delivery/package/review.h"
#include "json/text.h"
#include "krm/diff.h"
#include "krm/function.h"
#include "krm/package.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using Texts = std::map<std::string, std::string>;

constexpr std::string_view kMetadataFile = ".KptRevisionMetadata";

/// In the file's metadata: content_digest of what was written, by which local changes are told.
constexpr std::string_view kPulledDigest = "packages.slipway.dev/pulled";

std::string metadata_text(const kube::Object& object, const std::string& digest = "") {
  json::ObjectBuilder kept;
  for (const char* key : {"name", "namespace", "creationTimestamp", "resourceVersion", "uid"}) {
    if (object["metadata"].has(key)) kept.add(key, object["metadata"][key]);
  }
  if (!digest.empty()) kept.add("annotations", json::object({{kPulledDigest, Value(digest)}}));
  return json::print_yaml(
      json::object({{"apiVersion", Value("")}, {"kind", Value("KptRevisionMetadata")}, {"metadata", kept.build()}}));
}

/// What the server sends is not written outside the folder.
Result<void> check_path(const std::string& path) {
  bool is_outside = path.empty() || path.starts_with('/');
  for (std::size_t at = 0; at <= path.size() && !is_outside;) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    is_outside = path.substr(at, slash - at) == "..";
    at = slash + 1;
  }
  if (!is_outside) return {};
  return fail(Reason::Invalid, fmt::format("the revision has a file {:?}, which is no path in a folder", path));
}

/// The whole of the files, the Kptfile's status too.
std::string pulled_digest(const Texts& files) {
  std::string text;
  for (const auto& [path, bytes] : files) text += fmt::format("{} {}\n", path, sha256_hex(bytes));
  return sha256_hex(text);
}

Result<void> write_metadata(Env& env, const std::string& folder, const kube::Object& object, const Texts& files) {
  return env.files.write(fmt::format("{}/{}", folder, kMetadataFile), metadata_text(object, pulled_digest(files)), 0644);
}

Result<void> write_all(Env& env, const std::string& folder, const ShownFiles& shown) {
  for (const auto& [path, text] : shown.files) {
    SLIPWAY_TRY_VOID(check_path(path));
    const std::string target = fmt::format("{}/{}", folder, path);
    SLIPWAY_TRY_VOID(env.files.make_folders(target.substr(0, target.rfind('/'))));
    SLIPWAY_TRY_VOID(env.files.write(target, text, 0644));
  }
  SLIPWAY_TRY_VOID(env.files.make_folders(folder));
  return write_metadata(env, folder, shown.object, shown.files);
}

/// As one ResourceList, for functions in a shell's pipe; its first item says which version it is.
Result<std::string> resource_list(const ShownFiles& shown) {
  krm::ResourceList list;
  krm::Resource metadata;
  SLIPWAY_TRY(tree, krm::read_one_yaml(metadata_text(shown.object)));
  metadata.tree = std::move(tree);
  metadata.path = kMetadataFile;
  list.items.push_back(std::move(metadata));
  SLIPWAY_TRY(items, krm::read_resources(shown.files));
  for (krm::Resource& one : items) list.items.push_back(std::move(one));
  return krm::write_resource_list(list);
}

/// What a folder, or a list, says about the version that was pulled.
struct Pulled {
  Value metadata{};
  Texts files{};
};

Result<Pulled> pulled_folder(Env& env, const std::string& folder, const std::string& name) {
  const std::string file = fmt::format("{}/{}", folder, kMetadataFile);
  const auto text = env.files.read(file);
  if (!text) {
    return fail(
        Reason::BadRequest,
        fmt::format("{} is missing: `slipway pkg pull {} FOLDER` makes it, and says which version is changed", file, name));
  }
  Pulled made;
  SLIPWAY_TRY(metadata, json::parse_yaml(*text));
  made.metadata = metadata["metadata"];
  SLIPWAY_TRY(files, read_folder(env.files, folder));
  made.files = std::move(files);
  made.files.erase(std::string(kMetadataFile));
  return made;
}

/// Files that hold no objects stay as they are in the revision: a list has none of them.
Result<Pulled> pulled_list(std::string_view text, const Texts& there) {
  SLIPWAY_TRY(list, krm::read_resource_list(text));
  Pulled made;
  std::vector<krm::Resource> items;
  for (krm::Resource& one : list.items) {
    if (one.kind() != "KptRevisionMetadata") {
      items.push_back(std::move(one));
      continue;
    }
    SLIPWAY_TRY(metadata, krm::to_value(one.root()));
    made.metadata = metadata["metadata"];
  }
  SLIPWAY_TRY(files, krm::write_resources(there, std::move(items)));
  made.files = std::move(files);
  return made;
}

/// A folder that was pulled from a revision of the same package is brought to this one; another one only by force.
/// So is one with changes that were made since. `pulled` is what it is to hold.
Result<void> make_way(Env& env, const std::string& folder, const std::string& name, const Texts& pulled, Force force) {
  const auto there = env.files.list(folder);
  if (!there || there->empty()) return {};
  const auto text = env.files.read(fmt::format("{}/{}", folder, kMetadataFile));
  const auto metadata = text ? json::parse_yaml(*text) : Result<Value>(Value());
  const auto package = [](std::string_view one) { return one.substr(0, std::min(one.rfind('.'), one.size())); };
  const bool is_same = metadata && !kube::name(*metadata).empty() && package(kube::name(*metadata)) == package(name);
  if (!is_same && force == Force::No) {
    return fail(Reason::AlreadyExists,
                fmt::format("{} is not empty, and no version of this package: name a new folder, or add --force", folder));
  }
  if (force == Force::No) {
    SLIPWAY_TRY(files, read_folder(env.files, folder));
    files.erase(std::string(kMetadataFile));
    const std::string was = kube::annotation(*metadata, kPulledDigest).empty()
                                ? pulled_digest(pulled)
                                : std::string(kube::annotation(*metadata, kPulledDigest));
    if (pulled_digest(files) != was) {
      return fail(Reason::AlreadyExists,
                  fmt::format("{} has changes that were made after it was pulled: push them, name a new folder, or add --force "
                              "to lose them",
                              folder));
    }
  }
  for (const std::string& one : *there) {
    if (one != ".git") SLIPWAY_TRY_VOID(env.files.remove_all(fmt::format("{}/{}", folder, one)));
  }
  return {};
}

Task<Result<CommandAnswer>> pull(CommandCall call) {
  if (call.words.empty() || call.words.size() > 2) {
    co_return fail(Reason::BadRequest, "usage: slipway pkg pull REVISION [FOLDER]");
  }
  SLIPWAY_CO_TRY(shown, co_await fetch_files(*call.client, call.ns, plain_name(call.words[0])));
  if (call.words.size() == 1) {
    SLIPWAY_CO_TRY(text, resource_list(shown));
    co_return CommandAnswer{.text = text, .notes = shown.warnings};
  }
  const std::string& folder = call.words[1];
  const Force force = has_flag(call, "force") ? Force::Yes : Force::No;
  SLIPWAY_CO_TRY_VOID(make_way(call.env, folder, plain_name(call.words[0]), shown.files, force));
  SLIPWAY_CO_TRY_VOID(write_all(call.env, folder, shown));
  CommandAnswer answer{.notes = {fmt::format("{} files of {} are in {}", shown.files.size(), call.words[0], folder)}};
  answer.notes.insert(answer.notes.end(), shown.warnings.begin(), shown.warnings.end());
  co_return answer;
}

/// What the pipeline said, a line each, as notes.
std::vector<std::string> render_notes(const kube::Object& answer) {
  const Value& status = answer["status"]["renderStatus"];
  const auto result = json::decode<ResultList>(status["result"], "", {.allow_unknown = true});
  std::vector<std::string> notes = result ? function_lines(*result) : std::vector<std::string>{};
  if (!status["err"].str().empty() || !status["error"].str().empty()) {
    notes.push_back("rendering failed: " + (status["error"].str().empty() ? status["err"] : status["error"]).str());
  }
  return notes;
}

/// A PUT of all files, with the version that they were read at.
Task<Result<CommandAnswer>> put_files(client::Client& client, kube::Object object, Texts files, std::string done) {
  json::ObjectBuilder resources;
  for (const auto& [path, text] : files) {
    if (!is_text(text)) {
      co_return fail(Reason::BadRequest,
                     fmt::format("{:?} is not UTF-8 text, which a revision's files must be: commit it with git", path));
    }
    resources.add(path, text);
  }
  const Value body = object.with_path({"spec", "resources"}, resources.build()).without("status");
  const auto written = co_await client::update(client, kResources, body, kCommandManager);
  if (!written && written.error().reason == Reason::InternalError) {  // its pipeline failed
    co_return CommandAnswer{.notes = {written.error().message, "Package NOT pushed to remote"}, .exit_code = 1};
  }
  if (!written) co_return fail(written.error());
  const kube::Object& answer = *written;
  CommandAnswer made{.notes = render_notes(answer)};
  const Value& status = answer["status"]["renderStatus"];
  const bool has_failed = !status["error"].str().empty() || status["result"]["exitCode"].as_int() != 0;
  made.exit_code = has_failed ? 1 : 0;
  const bool is_kept = answer["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"];
  if (!has_failed) made.text = fmt::format("{} {}\n", kube::name(object), done);
  if (has_failed) {
    made.notes.push_back(is_kept ? "Package pushed to remote despite render failure" : "Package NOT pushed to remote");
  }
  co_return made;
}

Task<Result<CommandAnswer>> push(CommandCall call) {
  if (call.words.empty() || call.words.size() > 2) {
    co_return fail(Reason::BadRequest, "usage: slipway pkg push REVISION [FOLDER]");
  }
  const std::string name = plain_name(call.words[0]);
  const std::string folder = call.words.size() == 2 ? call.words[1] : "";
  SLIPWAY_CO_TRY(shown, co_await fetch_files(*call.client, call.ns, name));
  Pulled pulled;
  if (folder.empty()) {
    SLIPWAY_CO_TRY(text, call.env.files.read("/dev/stdin"));
    SLIPWAY_CO_TRY(list, pulled_list(text, shown.files));
    pulled = std::move(list);
  } else {
    SLIPWAY_CO_TRY(read, pulled_folder(call.env, folder, name));
    pulled = std::move(read);
  }
  const std::string from = pulled.metadata["name"].str();
  if (!from.empty() && from != name) {
    co_return fail(Reason::BadRequest, fmt::format("what is pushed was pulled from {}, not {}", from, name));
  }
  const kube::Object sent = shown.object.with_path({"metadata", "resourceVersion"}, pulled.metadata["resourceVersion"]);
  const Texts pushed = pulled.files;
  SLIPWAY_CO_TRY(answer, co_await put_files(*call.client, sent, std::move(pulled.files), "pushed"));
  if (folder.empty() || answer.exit_code != 0) co_return answer;
  // The folder follows the revision, so that the next push is judged against what this one has made.
  SLIPWAY_CO_TRY(now, co_await fetch_files(*call.client, call.ns, name));
  SLIPWAY_CO_TRY_VOID(write_metadata(call.env, folder, now.object, pushed));
  co_return answer;
}

Task<Result<CommandAnswer>> edit(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg edit REVISION [--file PATH=FILE]… [--remove PATH]…"));
  SLIPWAY_CO_TRY(shown, co_await fetch_files(*call.client, call.ns, plain_name(words[0])));
  Texts files = shown.files;
  for (const std::string& line : lines_of(call, "file")) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) {
      co_return fail(Reason::BadRequest, fmt::format("--file {:?}: must be PATH=FILE", line));
    }
    SLIPWAY_CO_TRY(text, call.env.files.read(line.substr(equals + 1)));
    files[line.substr(0, equals)] = text;
  }
  for (const std::string& path : lines_of(call, "remove")) {
    if (files.erase(path) == 0) co_return fail(Reason::NotFound, fmt::format("{} has no file {:?}", words[0], path));
  }
  if (files == shown.files) co_return CommandAnswer{.notes = {"nothing changes"}};
  co_return co_await put_files(*call.client, shown.object, std::move(files), "changed");
}

Task<Result<CommandAnswer>> diff(CommandCall call) {
  if (call.words.empty() || call.words.size() > 2) {
    co_return fail(Reason::BadRequest, "usage: slipway pkg diff REVISION [OTHER]");
  }
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(call.words.back())));
  std::string text;
  if (call.words.size() == 2) {
    SLIPWAY_CO_TRY(before, co_await fetch_files(*call.client, call.ns, plain_name(call.words[0])));
    SLIPWAY_CO_TRY(after, co_await fetch_files(*call.client, call.ns, revision.name()));
    text = krm::diff(without_verdicts(std::move(before.files)), without_verdicts(std::move(after.files)));
  } else {
    SLIPWAY_CO_TRY(review, co_await review_of(*call.client, call.ns, revision));
    text = review.diff;
  }
  co_return CommandAnswer{.text = text, .exit_code = text.empty() ? 0 : 1};
}

}  // namespace

std::vector<Command> content_commands() {
  return {
      looking({.verb = "pkg pull",
               .help = "write the files of a revision into a new folder, or as a ResourceList to standard output",
               .words_name = "REVISION",
               .words_help = "the revision; then the folder",
               .options = {{.name = "force", .help = "also over a folder that holds something else", .is_flag = true}}},
              pull),
      changing(
          {.verb = "pkg push",
           .help = "replace the files of a draft by those of a folder that was pulled, or of a ResourceList; its pipeline runs",
           .words_name = "REVISION",
           .words_help = "the draft; then the folder"},
          push),
      changing({.verb = "pkg edit",
                .help = "replace or remove single files of a draft; its pipeline runs",
                .words_name = "REVISION",
                .words_help = "the draft",
                .options = {{.name = "file", .help = "PATH=FILE: the file at PATH becomes FILE", .is_repeated = true},
                            {.name = "remove", .help = "a file of the draft", .is_repeated = true}}},
               edit),
      looking({.verb = "pkg diff",
               .help = "show what a revision changes in the newest published one of its package, or how two differ",
               .words_name = "REVISION",
               .words_help = "the revision; or an older one, then the revision (or two folders)"},
              diff)};
}

}  // namespace slipway::delivery::package
