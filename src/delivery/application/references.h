// Components that refer to objects which exist already (type ref-objects): before such a component is rendered, what it names
// is read and put in the place of the names: `resource`, `group`, `name` or `labelSelector`, `namespace`, `cluster`. What
// stands behind `urls` is fetched once, when a revision of the application is made, and kept in the revision: a file that
// changes later reaches the application with its next revision.
#pragma once

#include "base/http_client.h"
#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Whether the component's type takes references; others come back as they are.
bool has_references(const ComponentSpec& component);

/// Of every URL, and of all objects of an application.
inline constexpr std::size_t kMaxUrlBytes = std::size_t{512} << 10;
inline constexpr std::size_t kMaxUrlObjects = 200;
/// On an object that was fetched: from where.
inline constexpr const char* kResourceUrl = "app.oam.dev/resource-url";

bool has_urls(const Value& spec);
/// The objects behind the URLs of an application's spec, a list; null when it has no URLs. YAML or JSON; redirects are not
/// followed. Errors: Invalid, which names component and URL. `http` may be null and outlives the call.
Task<Result<Value>> fetch_references(HttpClient* http, Value spec);

/// The component with the objects themselves under properties.objects, without what their server keeps about them. Errors:
/// NotFound for an object that is not there.
Task<Result<ComponentSpec>> with_references(AppRun& run, ComponentSpec component);

}  // namespace slipway::delivery::application
