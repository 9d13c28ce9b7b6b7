#include "cli/package_get.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <cstdio>

#include "base/git.h"
#include "base/text.h"
#include "cli/session.h"
#include "git/repositories.h"
#include "krm/command.h"
#include "krm/paths.h"
#include "os/real_env.h"

namespace slipway::cli {
namespace {

struct Order {
  PackageSource source;
  GitRemote remote;
  std::string target;
  std::string strategy;
};

/// A package as it was fetched.
struct Fetched {
  std::vector<GitFile> files;
  std::string ref;
  GitId commit;
};

/// Without slashes at the ends.
std::string plain(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

/// What a word after '@' may mean at the remote: a version of the package comes first, as with kpt.
std::vector<std::string> meanings(const PackageSource& source) {
  if (source.ref.starts_with("refs/")) return {source.ref};
  std::vector<std::string> refs;
  if (!source.directory.empty()) refs.push_back(fmt::format("refs/tags/{}/{}", source.directory, source.ref));
  refs.push_back("refs/heads/" + source.ref);
  refs.push_back("refs/tags/" + source.ref);
  return refs;
}

std::string short_name(std::string_view ref) {
  for (const std::string_view kind : {"refs/heads/", "refs/tags/"}) {
    if (ref.starts_with(kind)) return std::string(ref.substr(kind.size()));
  }
  return std::string(ref);
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Task<Result<std::string>> find_ref(Git& git, Order order) {
  SLIPWAY_CO_TRY(known, co_await git.list_refs(order.remote, "refs/"));
  if (order.source.ref.empty()) {
    if (!known.head.empty()) co_return known.head;
    order.source.ref = "main";
  }
  for (const std::string& name : meanings(order.source)) {
    if (std::ranges::find(known.refs, name, &GitRef::name) != known.refs.end()) co_return name;
  }
  co_return fail(Reason::NotFound, fmt::format("{} has no branch or tag {:?}", order.source.repo, order.source.ref));
}

/// Whether a link at `path` may lead out of the package. Steps up come first: after a name, which may be a link itself, ".." is
/// not known to stay inside.
bool leads_out(const std::string& path, std::string_view target) {
  if (target.starts_with('/')) return true;
  auto depth = std::ranges::count(path, '/');
  bool has_name = false;
  for (const std::string_view part : split(target, '/')) {
    if (part == ".." && (has_name || --depth < 0)) return true;
    has_name = has_name || (part != ".." && part != "." && !part.empty());
  }
  return false;
}

Task<Result<Fetched>> fetch(Git& git, Order order) {
  Fetched made;
  if (is_commit(order.source.ref)) {
    SLIPWAY_CO_TRY_VOID(co_await git.fetch_all(order.remote, "refs/"));
    made.commit = made.ref = order.source.ref;
  } else {
    SLIPWAY_CO_TRY(ref, co_await find_ref(git, order));
    SLIPWAY_CO_TRY(commit, co_await git.fetch(order.remote, ref));
    made.ref = short_name(ref);
    made.commit = commit;
  }
  SLIPWAY_CO_TRY(files, co_await git.read_tree(order.remote, made.commit,
                                               {.path = order.source.directory,
                                                .large = GitTreeQuery::Large::refuse,
                                                .max_file_bytes = std::uint64_t{64} << 20}));
  const std::string prefix = order.source.directory.empty() ? "" : order.source.directory + "/";
  for (GitFile& file : files) {
    if (!file.path.starts_with(prefix)) co_return fail(Reason::BadRequest, fmt::format("{} is no folder", file.path));
    file.path = file.path.substr(prefix.size());
    // Git itself lets a tree have such names, and the repository may be anyone's.
    if (!krm::is_file_path(file.path))
      co_return fail(Reason::BadRequest, fmt::format("{} is no path of a file in a package", file.path));
    if (file.mode == GitMode::Symlink && leads_out(file.path, file.content.value_or(""))) {
      co_return fail(Reason::Forbidden,
                     fmt::format("{} is a link out of the package, to {:?}", file.path, file.content.value_or("")));
    }
  }
  made.files = std::move(files);
  co_return made;
}

/// Runs it over a mirror that is gone afterwards.
Result<Fetched> fetch_now(const Order& order) {
  const std::string mirrors = make_temporary_folder();
  if (mirrors.empty()) return fail(Reason::ServiceUnavailable, "no temporary folder could be made");
  Result<Fetched> made = fail(Reason::InternalError, "not run");
  {
    os::RealEnv real(os::RealEnvOptions{});
    git::Repositories git(real.env(), {&real.open_lane("slipway-mirrors")}, {&real.open_lane("slipway-git")},
                          {.folder = mirrors});
    boost::asio::co_spawn(
        real.env().executor,
        [](os::RealEnv& env, Git& from, Order wanted, Result<Fetched>& into) -> Task<> {
          into = co_await fetch(from, std::move(wanted));
          env.stop();
        }(real, git, order, made),
        [](std::exception_ptr) {});
    real.run();
    real.shut();
  }
  os::RealEnv cleaning;
  (void)cleaning.env().files.remove_all(mirrors);
  return made;
}

Result<void> write_package(const std::string& folder, const std::vector<GitFile>& fetched, const krm::Files& files) {
  os::RealEnv real;
  Env& env = real.env();
  for (const auto& [path, text] : files) {
    const std::string target = fmt::format("{}/{}", folder, path);
    SLIPWAY_TRY_VOID(env.files.make_folders(target.substr(0, target.rfind('/'))));
    const auto file = std::ranges::find(fetched, path, &GitFile::path);
    const GitMode mode = file == fetched.end() ? GitMode::Regular : file->mode;
    if (mode == GitMode::Symlink) {
      if (symlink(text.c_str(), target.c_str()) != 0)
        return fail(Reason::ServiceUnavailable, "cannot make a link at " + target);
      continue;
    }
    SLIPWAY_TRY_VOID(env.files.write(target, text, mode == GitMode::Executable ? 0755 : 0644));
  }
  return {};
}

int refuse_source(const std::string& message) {
  fmt::print(stderr, "error: {}\n", message);
  return 2;
}

int get(const Order& order) {
  {
    os::RealEnv real;
    const auto there = real.env().files.list(order.target);
    if ((there && !there->empty()) || real.env().files.read(order.target))
      return refuse_source(fmt::format("{} is there already: name a new folder", order.target));
  }
  const auto fetched = fetch_now(order);
  if (!fetched) return refuse_source(fetched.error().message);
  krm::Files files;
  for (const GitFile& file : fetched->files) {
    if (file.content && file.mode != GitMode::Submodule) files[file.path] = *file.content;
  }
  const std::string folder = absolute(order.target);
  const krm::GitOrigin origin{
      .repo = order.source.repo, .directory = order.source.directory, .ref = fetched->ref, .commit = fetched->commit};
  const krm::CommandOutcome made =
      krm::get_command(std::move(files), folder.substr(folder.rfind('/') + 1), origin, order.strategy);
  if (made.files) {
    if (auto done = write_package(folder, fetched->files, *made.files); !done) return refuse_source(done.error().message);
  }
  fmt::print("{}", made.output);
  fmt::print(stderr, "{}", made.errors);
  return made.code;
}

/// What the command was given.
struct Given {
  std::string address;
  Order order;
  std::string password_file;
};

Result<Order> order_of(Given& given) {
  Order order = given.order;
  SLIPWAY_TRY(source, read_source(given.address));
  order.source = std::move(source);
  order.remote.url = order.source.repo;
  order.remote.space = "get";
  while (order.target.size() > 1 && order.target.ends_with('/')) order.target.pop_back();
  if (order.target.empty()) {
    std::string name = order.source.directory.empty() ? order.source.repo : order.source.directory;
    if (name.ends_with(".git")) name.resize(name.size() - 4);
    order.target = name.substr(name.rfind('/') + 1);
  }
  if (!given.password_file.empty()) {
    os::RealEnv real;
    SLIPWAY_TRY(password, real.env().files.read(given.password_file));
    order.remote.credentials.password = std::string(trimmed(password));
  }
  return order;
}

}  // namespace

bool is_address(std::string_view word) { return word.contains("://") || word.contains(".git") || word.starts_with("git@"); }

Result<PackageSource> read_source(std::string_view address) {
  if (address.starts_with("oci://"))
    return fail(Reason::NotImplemented, "packages in image registries are not implemented: fetch from a Git repository");
  constexpr std::string_view kGitHub = "https://github.com/";
  const std::size_t suffix = address.find(".git");
  const bool ends_there = suffix != std::string_view::npos &&
                          (suffix + 4 == address.size() || address[suffix + 4] == '/' || address[suffix + 4] == '@');
  std::size_t end = suffix + 4;
  if (!ends_there) {
    if (!address.starts_with(kGitHub)) {
      return fail(Reason::BadRequest,
                  fmt::format("{}: where does the repository end? Write it as REPOSITORY.git/FOLDER@REF", address));
    }
    const std::size_t owner = address.find('/', kGitHub.size());
    end = owner == std::string_view::npos ? address.size() : std::min(address.find_first_of("/@", owner + 1), address.size());
  }
  const std::string_view rest = address.substr(end);
  const std::size_t at = rest.rfind('@');
  PackageSource made{.repo = std::string(address.substr(0, end)),
                     .directory = plain(rest.substr(0, at)),
                     .ref = at == std::string_view::npos ? "" : std::string(rest.substr(at + 1))};
  const auto parts = split(made.directory, '/');
  if (std::ranges::find(parts, "..") != parts.end())
    return fail(Reason::BadRequest, fmt::format("{}: no path of a folder", made.directory));
  return made;
}

void add_get(CLI::App& app, int& code) {
  const auto given = std::make_shared<Given>();
  CLI::App* get_app = app.add_subcommand("get", "fetch a package from a Git repository into a folder");
  get_app->add_option("address", given->address, "REPOSITORY.git/FOLDER@REF")->required();
  get_app->add_option("folder", given->order.target, "where it goes (default: the package's name)");
  get_app->add_option("--strategy", given->order.strategy,
                      "how later upgrades merge: resource-merge, fast-forward, force-delete-replace or copy-merge");
  get_app->add_option("--username", given->order.remote.credentials.username, "of the repository");
  get_app->add_option("--password-file", given->password_file, "a file with its password or token");
  get_app->callback([given, &code] {
    const auto order = order_of(*given);
    code = order ? get(*order) : refuse_source(order.error().message);
  });
}

}  // namespace slipway::cli
