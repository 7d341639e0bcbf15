#include "server_log.hpp"

#include <cctype>

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

}  // namespace testcluster::command
