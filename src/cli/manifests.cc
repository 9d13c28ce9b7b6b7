#include "cli/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "json/text.h"
#include "json/yaml_place.h"
#include "plane/families.h"

namespace slipway::cli {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

std::unexpected<Status> bad(const std::string& source, std::string_view what) {
  return fail(Reason::BadRequest, fmt::format("{}: {}", source, what));
}

Result<void> check(const Manifest& manifest) {
  const kube::Object& object = manifest.object;
  if (!object.is_object()) return bad(manifest.source, "expected an object with apiVersion, kind and metadata");
  for (const auto* field : {"apiVersion", "kind"}) {
    if (object[field].as_string().empty()) return bad(manifest.source, fmt::format("{} is missing", field));
  }
  if (!kube::name(object).empty()) return {};
  if (object["metadata"].has("generateName")) {
    return bad(manifest.source, "metadata.generateName would make a new object at every run: give metadata.name");
  }
  return bad(manifest.source, "metadata.name is missing");
}

Result<void> add(std::vector<Manifest>& manifests, Manifest manifest) {
  if (manifest.object["kind"].as_string() == "List") {
    const json::Value& items = manifest.object["items"];
    for (std::size_t i = 0; i < items.size(); ++i) {
      Manifest item{.object = items.item(i), .source = manifest.source};
      if (manifest.place) {
        const std::string at = fmt::format("items[{}]", i);
        item.source = manifest.place(at);
        item.place = [at, place = manifest.place](const std::string& member) {
          return place(member.empty() ? at : fmt::format("{}.{}", at, member));
        };
      }
      SLIPWAY_TRY_VOID(add(manifests, std::move(item)));
    }
    return {};
  }
  SLIPWAY_TRY_VOID(check(manifest));
  manifests.push_back(std::move(manifest));
  return {};
}

/// The form of a file by its name; null for YAML and JSON.
const delivery::SourceForm* form_of(std::string_view name) {
  static const std::vector<delivery::SourceForm> forms = plane::source_forms();
  const auto at = std::ranges::find_if(forms, [&](const auto& form) { return name.ends_with(form.extension); });
  return at == forms.end() ? nullptr : &*at;
}

Result<void> read_file(Files& files, const std::string& path, std::vector<Manifest>& manifests) {
  SLIPWAY_TRY(text, files.read(path == "-" ? "/dev/stdin" : path));
  if (const delivery::SourceForm* form = form_of(path)) {
    SLIPWAY_TRY(object, form->read(path, text));
    return add(manifests, Manifest{.object = std::move(object), .source = path});
  }
  const std::string name = path == "-" ? "standard input" : path;
  json::Limits limits;
  limits.max_bytes = kMaxFileBytes;
  auto documents = json::parse_yaml_all(text, limits);
  if (!documents) return bad(name, documents.error().message);
  const auto shared = std::make_shared<const std::string>(std::move(text));
  for (json::YamlDocument& document : *documents) {
    Manifest manifest{.object = std::move(document.value), .source = fmt::format("{}:{}", name, document.line)};
    manifest.place = [shared, name, line = document.line](const std::string& member) {
      return fmt::format("{}:{}", name, json::yaml_line(*shared, line, member));
    };
    SLIPWAY_TRY_VOID(add(manifests, std::move(manifest)));
  }
  return {};
}

bool is_manifest_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json") || form_of(name) != nullptr;
}

Result<void> refuse_doubles(const std::vector<Manifest>& manifests) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::string> seen;
  for (const Manifest& manifest : manifests) {
    const kube::Object& o = manifest.object;
    const auto [at, is_new] =
        seen.emplace(std::tuple(o["apiVersion"].str(), o["kind"].str(), std::string(kube::ns(o)), std::string(kube::name(o))),
                     manifest.source);
    if (!is_new) {
      return bad(manifest.source, fmt::format("{} \"{}\" was already given at {}", kube::kind(o), kube::name(o), at->second));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Manifest>> read_manifests(Files& files, const std::vector<std::string>& paths) {
  std::vector<Manifest> manifests;
  for (const std::string& path : paths) {
    const auto names = path == "-" ? fail(Reason::NotFound, "") : files.list(path);
    if (!names) {
      SLIPWAY_TRY_VOID(read_file(files, path, manifests));
      continue;
    }
    for (const std::string& name : *names) {
      if (is_manifest_name(name)) SLIPWAY_TRY_VOID(read_file(files, fmt::format("{}/{}", path, name), manifests));
    }
  }
  if (manifests.empty()) return fail(Reason::BadRequest, "no objects were found in the files given with -f");
  SLIPWAY_TRY_VOID(refuse_doubles(manifests));
  return manifests;
}

}  // namespace slipway::cli
