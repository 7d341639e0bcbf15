#include "logs.hpp"

#include <chrono>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

#include "place.hpp"
#include "printable.hpp"
#include "server_log.hpp"

namespace testcluster::command {
namespace {

namespace fs = std::filesystem;
using log_list = std::vector<std::unique_ptr<server_log>>;

log_list open_logs(const fs::path& dir, int id) {
  constexpr int most_servers = 9;
  log_list found;
  bool any = false;
  for (int each = 1; each <= most_servers; ++each) {
    const auto file = dir / "ensemble" / ("server." + std::to_string(each)) / "log";
    if (!fs::exists(file)) continue;
    any = true;
    if (id == 0 || id == each) found.push_back(std::make_unique<server_log>(each, file));
  }
  if (!any) throw error("no cluster is up in " + dir.string() + ", and there are no logs of one");
  if (found.empty()) throw error("there is no server " + std::to_string(id) + " in " + dir.string());
  return found;
}

void print_line(std::ostream& out, server_log& from, bool prefixed) {
  if (prefixed) out << from.id() << " | ";
  out << printable_lines(*from.peek()) << "\n";
  from.pop();
}

/// Prints what there is, the oldest line first.
void print_all(std::ostream& out, const log_list& logs, bool prefixed) {
  while (out) {
    server_log* oldest = nullptr;
    for (const auto& each : logs) {
      if (each->peek() && (oldest == nullptr || each->time() < oldest->time())) oldest = each.get();
    }
    if (oldest == nullptr) break;
    print_line(out, *oldest, prefixed);
  }
  out.flush();
}

}  // namespace

void print_logs(std::ostream& out, const fs::path& dir, int id, bool follow) {
  const auto logs = open_logs(dir, id);
  const bool prefixed = logs.size() > 1;
  print_all(out, logs, prefixed);
  while (follow && out && examine(dir) == condition::live) {
    // The end of a supervisor that is killed changes no file, so watching the files would need a timeout, too.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // polls: see above
    print_all(out, logs, prefixed);
  }
  for (const auto& each : logs) each->finish();
  print_all(out, logs, prefixed);
}

}  // namespace testcluster::command
