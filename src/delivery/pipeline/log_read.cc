#include "delivery/pipeline/log_read.h"

#include <fmt/format.h>

#include <set>

#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {

Task<Result<std::vector<kube::Object>>> read_all(client::Client& client, kube::Resource resource, std::string ns,
                                                 std::string label_selector) {
  client::ListQuery query;
  query.ns = std::move(ns);
  query.label_selector = std::move(label_selector);
  SLIPWAY_CO_TRY(list, co_await client::list(client, resource, query));
  std::vector<kube::Object> objects;
  for (const json::Value& item : list["items"].items()) objects.push_back(item);
  co_return objects;
}

Task<Result<std::map<std::string, std::vector<Chain>>>> read_chains(client::Client& client, std::string ns,
                                                                    std::string pipeline) {
  std::string selector;
  if (!pipeline.empty() && pipeline.size() <= kMostLabelBytes) selector = fmt::format("{}={}", kPipelineLabel, pipeline);
  SLIPWAY_CO_TRY(objects, co_await read_all(client, kDeliveryLogs, ns, selector));
  std::set<std::string> names;
  for (const kube::Object& object : objects) names.insert(object["spec"]["pipeline"].str());
  std::map<std::string, std::vector<Chain>> chains;
  for (const std::string& name : names) {
    if (pipeline.empty() || name == pipeline) chains[name] = chains_of(objects, ns, name);
  }
  co_return chains;
}

std::string csv_cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(row[i]);
    text += "\r\n";
  }
  return text;
}

}  // namespace slipway::delivery::pipeline
