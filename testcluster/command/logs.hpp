#pragma once

#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <optional>
#include <string>

namespace testcluster::command {

/// The log of one server, line by line, also while it grows.
class server_log {
 public:
  server_log(int id, const std::filesystem::path& file);

  int id() const { return id_; }

  /// The next whole line; nullopt if there is none yet.
  const std::optional<std::string>& peek();
  void pop() { line_.reset(); }

  /// The rest without an end of line, once nobody writes any more.
  void finish();

  /// When the line of peek() was written, as HH:MM:SS.mmm. A line without a time, such as that of a stack trace, has
  /// the time of the line before it. Each midnight counts as a day more.
  const std::string& time() const { return time_; }

 private:
  void take_time();
  int id_;
  std::ifstream file_;
  std::string partial_;
  std::optional<std::string> line_;
  std::string clock_time_, time_;
  int days_ = 0;
};

/// Prints the logs of the servers of a cluster, or of one of them if `id` is not 0, in the order of time, and then, if
/// `follow`, what they go on to log until the cluster ends. Each line of several servers begins with "ID | ". Throws
/// testcluster::error if there is no such cluster or no such server.
void print_logs(std::ostream& out, const std::filesystem::path& dir, int id, bool follow);

}  // namespace testcluster::command
