#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <testcluster/ensemble.hpp>

#include "zk_client.hpp"

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using testcluster::detail::zk_client;

/// Whether something becomes true before a generous deadline.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds time_limit = 15s);

/// A session on one server, address:port. It sends no pings, so it lives for ten seconds.
zk_client connect(const std::string& address, std::chrono::milliseconds time_limit = 10s);

/// The id of another one of three servers.
inline int other_than(int id) { return id % 3 + 1; }

/// Whether a process exists and is not a zombie.
bool alive(pid_t pid);

/// The message of the testcluster::error or std::invalid_argument that the function throws; empty if it
/// throws none.
std::string failure(const std::function<void()>& function);

bool contains(const std::string& text, const std::string& part);

/// A directory for the length of a test.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file with a text, for the length of a test.
class written_file {
 public:
  written_file(const std::string& name, const std::string& text) : path_((place_.path() / name).string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  const std::string& path() const { return path_; }

 private:
  scratch place_;
  std::string path_;
};
