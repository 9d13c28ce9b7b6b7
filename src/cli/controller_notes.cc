#include "cli/controller_notes.h"

#include "control/leader_election.h"

namespace slipway::cli {

Task<std::vector<std::string>> controller_notes(client::Client& client) {
  std::vector<std::string> told;
  client::ListQuery query;
  query.field_selector = "metadata.name=" + control::LeaderElection::Options{}.name;
  const auto leases = co_await client::list(client, {"coordination.k8s.io", "v1", "leases"}, query);
  if (!leases) co_return told;
  for (const json::Value& lease : (*leases)["items"].items()) {
    if (lease["spec"]["holderIdentity"].as_string().empty()) continue;
    const std::string_view note = lease["metadata"]["annotations"][control::LeaderElection::kNote].as_string();
    for (std::string& line : lines_of(note)) told.push_back(std::move(line));
  }
  co_return told;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace slipway::cli
