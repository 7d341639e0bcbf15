#include "server.hpp"

#include <fstream>
#include <sstream>

#include <signal.h>

#include "java.hpp"
#include "spawn.hpp"
#include "zk_client.hpp"

namespace testcluster::detail {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

server::server(int id, fs::path folder, std::uint16_t base_port)
    : id_(id), folder_(std::move(folder)), base_port_(base_port) {}

server::~server() {
  kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string server::address(int port_offset) const {
  return address_.text() + ":" + std::to_string(base_port_ + port_offset);
}

tcp::endpoint server::client_endpoint() const { return parse_endpoint(address(0)); }

void server::start(pid_t group, const ensemble_options& options) {
  std::error_code absent;
  const auto log_size = fs::file_size(log_file(), absent);
  log_start_ = absent ? 0 : log_size;
  pid_ = spawn({.command = server_command(folder_ / "zoo.cfg", options),
                .group = group,
                .output = log_file(),
                .working_directory = folder_});
}

void server::end(int signal_number) {
  ::kill(pid_, signal_number);
  ::kill(pid_, SIGCONT);  // a paused process would not see SIGTERM before it goes on
  paused_ = false;
}

void server::kill() {
  if (pid_ == 0) return;
  end(SIGKILL);
  await(pid_);
  pid_ = 0;
}

void server::stop(std::chrono::milliseconds patience) {
  end(SIGTERM);
  if (!await_until(pid_, clock::now() + patience)) return kill();
  pid_ = 0;
}

void server::pause() {
  ::kill(pid_, SIGSTOP);
  paused_ = true;
}

void server::resume() {
  ::kill(pid_, SIGCONT);
  paused_ = false;
}

server::state server::current() {
  if (pid_ != 0 && collect(pid_)) {
    pid_ = 0;
    paused_ = false;
  }
  if (pid_ == 0) return state::stopped;
  return paused_ ? state::paused : state::running;
}

std::string server::role() {
  const auto now = current();
  if (now == state::stopped) return "stopped";
  if (now == state::paused) return "paused";
  try {
    const auto answer = four_letter_word(client_endpoint(), "srvr", clock::now() + 500ms);
    const std::string key = "Mode: ";
    const auto start = answer.find(key);
    if (start == answer.npos) return "looking";
    return answer.substr(start + key.size(), answer.find('\n', start) - start - key.size());
  } catch (const error&) {
    return "looking";
  }
}

std::string server::log() const {
  std::ifstream file(log_file(), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(log_start_));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace testcluster::detail
