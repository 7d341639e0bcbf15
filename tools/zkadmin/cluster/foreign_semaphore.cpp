#include "cluster/foreign_semaphore.hpp"

#include <charconv>
#include <utility>

#include "cluster/line_status.hpp"

namespace zkadmin {
namespace {

constexpr std::string_view marks_of_leases[] = {"lease-"};
constexpr const char* lease_role = "holder";

/// A number as kazoo writes it; nothing for other data.
std::optional<std::int64_t> number_in(const std::string& data) noexcept {
  std::int64_t number = 0;
  const auto* end = data.data() + data.size();
  const auto [rest, error] = std::from_chars(data.data(), end, number);
  return error == std::errc() && rest == end && number > 0 ? std::optional(number) : std::nullopt;
}

recipe_status semaphore_with(std::string path, const char* client, const node_line& leases, const node_line& waiting) {
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {recipe::semaphore};
  status.client = client;
  add_members(status, leases, lease_role);
  for (auto& each : status.participants) each.position.reset();  // those who hold stand in no order
  add_members(status, waiting, "waiter");
  status.taken = static_cast<std::int64_t>(leases.members.size());
  set_holders(status, leases.members.size(), waiting.members.size());
  return status;
}

}  // namespace

name_markers lease_markers() noexcept { return marks_of_leases; }

recipe_status curators_semaphore_of(std::string path, const node_line& leases, const node_line& waiting) {
  auto status = semaphore_with(std::move(path), "Curator", leases, waiting);
  status.state = leases.members.empty() ? "free" : "held";
  status.facts = {{"size", std::monostate()}, {"taken", *status.taken}};
  add_strangers(status, leases);
  return status;
}

recipe_status kazoos_semaphore_of(const node_line& leases, const node_line& waiting) {
  auto status = semaphore_with(leases.path, "kazoo", leases, waiting);
  status.size = number_in(leases.root.data);
  status.state = leases.members.empty() ? "free" : "held";
  if (status.size) status.state = *status.taken >= *status.size ? "full" : "free";
  status.facts = {{"size", status.size ? fact_value(*status.size) : fact_value()}, {"taken", *status.taken}};
  return status;
}

}  // namespace zkadmin
