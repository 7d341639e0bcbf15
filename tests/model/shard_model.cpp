// Tries all interleavings of the protocol of a shard group, which moment.hpp explains. There must be no state in which
// two members believe to own the shard, or in which the fence lets a write of another than the owner pass. And from
// each state in which a member is there, a settled one can be reached without anything else that fails, begins or is
// rearranged. The variants deviate from the protocol, and the search has to find what each of them breaks.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "search.hpp"

namespace {

using namespace model;

struct wishes {
  group_size size;
  std::string variant = variants().front().name;
  bool pauses = false;
  bool all = false;
  bool history = false;
  std::size_t max_states = 40'000'000;
};

void report(const variant& what, const findings& found, double seconds) {
  const char* const limited = found.is_complete ? "" : " as far as the limit of states";
  const char* const surprise = found.found == what.expected ? "" : ", WHICH IS NOT EXPECTED";
  std::printf("%-20s %s%s%s", what.name.c_str(), to_text(found.found), limited, surprise);
  std::printf(" (%s): %zu states, %zu steps", what.text.c_str(), found.states, found.steps);
  if (found.settled > 0) std::printf(", %zu settled, %zu stuck", found.settled, found.stuck);
  std::printf(", %.1f s\n", seconds);
}

/// Returns whether that is found which is expected.
bool try_variant(variant what, const wishes& asked) {
  if (asked.pauses && what.expected == verdict::holds) what.expected = verdict::fence_holds;
  what.rules.pauses |= asked.pauses;
  const auto began = std::chrono::steady_clock::now();
  const auto found = search({asked.size, what.rules}, asked.max_states).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const bool is_expected = found.found == what.expected;
  report(what, found, took.count());
  if (asked.history || !is_expected) {
    for (const auto& each : found.history) std::printf("  %s\n", each.c_str());
  }
  std::fflush(stdout);
  return is_expected;
}

bool try_all(const wishes& asked) {
  const auto wrong = std::ranges::count_if(variants(), [&](const auto& each) { return !try_variant(each, asked); });
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tries all interleavings of the protocol of a shard group.", "shard_model");
  wishes asked;
  std::vector<std::string> names;
  for (const auto& each : variants()) names.push_back(each.name);
  app.add_option("--members", asked.size.members, "3 need a single planner, minutes and gigabytes")
      ->check(CLI::Range(1, max_members))
      ->capture_default_str();
  app.add_option("--planners", asked.size.planners)->check(CLI::Range(1, max_planners))->capture_default_str();
  app.add_option("--variant", asked.variant)->check(CLI::IsMember(names))->capture_default_str();
  app.add_flag("--pauses", asked.pauses, "Processes may sleep for longer than their leases");
  app.add_flag("--all", asked.all, "The protocol and all variants in turn");
  app.add_flag("--history", asked.history, "Print a shortest way to what is found");
  app.add_option("--states", asked.max_states, "At most so many")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (asked.size.members + asked.size.planners == max_members + max_planners)
    return app.exit(CLI::ValidationError("3 members need a single planner"));
  return (asked.all ? try_all(asked) : try_variant(variant_of(asked.variant), asked)) ? 0 : 1;
}
