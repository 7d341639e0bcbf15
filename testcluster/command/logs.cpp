#include "logs.hpp"

#include <cctype>
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

#include "place.hpp"
#include "printable.hpp"

namespace testcluster::command {
namespace {

constexpr std::size_t time_length = 12;  // HH:MM:SS.mmm

bool begins_with_time(const std::string& line) {
  const std::string form = "00:00:00.000";
  if (line.size() < time_length) return false;
  for (std::size_t i = 0; i < time_length; ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(line[i])) != 0;
    if (form[i] == '0' ? !digit : line[i] != form[i]) return false;
  }
  return true;
}

}  // namespace

server_log::server_log(int id, const std::filesystem::path& file) : id_(id), file_(file, std::ios::binary) {}

const std::optional<std::string>& server_log::peek() {
  if (line_) return line_;
  std::string part;
  file_.clear();  // the end of the file may be elsewhere by now
  std::getline(file_, part);
  partial_ += part;
  if (file_.eof() || file_.fail()) return line_;
  line_ = std::move(partial_);
  partial_.clear();
  take_time();
  return line_;
}

void server_log::finish() {
  if (line_ || partial_.empty()) return;
  line_ = std::move(partial_);
  partial_.clear();
}

void server_log::take_time() {
  if (!begins_with_time(*line_)) return;
  const auto now = line_->substr(0, time_length);
  // The hours tell midnight from two threads of the server that have logged in the wrong order.
  if (!clock_time_.empty() && clock_time_.substr(0, 2) > now.substr(0, 2)) ++days_;
  clock_time_ = now;
  time_ = std::to_string(1000 + days_) + " " + now;
}

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
