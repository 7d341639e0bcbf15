#include <fstream>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <signal.h>

#include <testcluster/redis_broker.hpp>

#include "connection.hpp"
#include "guard.hpp"
#include "loopback_address.hpp"
#include "spawn.hpp"
#include "tls_folder.hpp"
#include "workspace.hpp"

namespace testcluster {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct redis_broker::impl {
  explicit impl(const redis_broker_options& given);
  ~impl();
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  fs::path folder() const { return files.path() / "redis"; }
  void write_secure_lines(std::ostream& out);
  detail::tls_folder& certificates();
  void write_configuration();
  void launch();
  void await_answer();
  bool answers() const;
  bool runs();
  void require(bool is_running, const char* what);
  void end(int signal_number);

  redis_broker_options options;
  detail::workspace files;
  detail::guard keeper;
  detail::loopback_address host;
  std::string address;
  std::string secure_address;
  std::optional<detail::tls_folder> tls;
  pid_t pid = 0;
};

namespace {

const redis_broker_options& checked(const redis_broker_options& options) {
  if (options.start_timeout <= 0ms) throw std::invalid_argument("start_timeout: it must be more than zero");
  if (options.port == 0) throw std::invalid_argument("port: it must be 1 to 65535");
  if (options.tls && options.port == 65535) throw std::invalid_argument("port: with tls the next one is needed, too");
  for (const char each : options.password) {
    const bool is_bad = each == '"' || each == '\\' || static_cast<unsigned char>(each) < 0x20;
    if (is_bad) throw std::invalid_argument("password: no quotes, backslashes and control characters");
  }
  return options;
}

}  // namespace

redis_broker::impl::impl(const redis_broker_options& given)
    : options(checked(given)),
      files(options.dir),
      keeper(files.temporary() ? files.path() : fs::path{}),
      address(host.text() + ":" + std::to_string(options.port)) {
  fs::create_directory(folder());
  if (options.tls) {
    secure_address = host.text() + ':' + std::to_string(options.port + 1);
    tls.emplace(folder() / "tls");
  }
  write_configuration();
  try {
    launch();
  } catch (...) {
    end(SIGKILL);
    fs::remove_all(folder());
    throw;
  }
}

redis_broker::impl::~impl() {
  end(SIGKILL);
  tls.reset();
  std::error_code ignored;
  fs::remove_all(folder(), ignored);
}

detail::tls_folder& redis_broker::impl::certificates() {
  if (!tls) throw error("the broker was started without tls");
  return *tls;
}

void redis_broker::impl::write_secure_lines(std::ostream& out) {
  const auto own = certificates().signer().issue({.name = "redis", .hosts = {host.text(), "localhost"}});
  out << "tls-port " << options.port + 1 << "\ntls-ca-cert-file " << tls->signer().certificate().string() << '\n';
  out << "tls-cert-file " << own.certificate.string() << "\ntls-key-file " << own.key.string() << '\n';
}

void redis_broker::impl::write_configuration() {
  const auto file = folder() / "redis.conf";
  std::ofstream out(file);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const bool is_durable = options.durability == redis_durability::always;
  out << "bind " << host.text() << "\nport " << options.port << "\nprotected-mode no\ndaemonize no\nsave \"\"\n";
  out << "dir " << folder().string() << "\nappendonly " << (is_durable ? "yes\nappendfsync always" : "no") << '\n';
  if (!options.password.empty()) out << "requirepass \"" << options.password << "\"\n";
  if (tls) write_secure_lines(out);
  for (const auto& each : options.extra_config) out << each << '\n';
  out.close();
  if (!out) throw error("could not write " + file.string());
}

void redis_broker::impl::launch() {
  try {
    pid = detail::spawn({.command = {"redis-server", (folder() / "redis.conf").string()},
                         .group = keeper.group(),
                         .output = folder() / "log",
                         .working_directory = folder()});
  } catch (const std::system_error& failure) {
    throw error(std::string(failure.what()) + " (Debian: apt-get install redis-server)");
  }
  await_answer();
}

void redis_broker::impl::await_answer() {
  const auto deadline = detail::clock::now() + options.start_timeout;
  while (!answers()) {
    const bool is_gone = !runs();
    if (is_gone || detail::clock::now() > deadline) {
      std::ifstream file(folder() / "log");
      std::ostringstream text;
      text << file.rdbuf();
      throw error((is_gone ? "redis-server has ended" : "redis-server does not answer") + std::string("; its log:\n") +
                  text.str());
    }
    std::this_thread::sleep_for(2ms);  // polls: the server tells nobody when it is ready
  }
}

/// A broker that loads its data says so to PING.
bool redis_broker::impl::answers() const {
  try {
    detail::connection to(detail::parse_endpoint(address), detail::clock::now() + 1s);
    to.write("PING\r\n");
    const auto answer = to.read(5);
    return answer == "+PONG" || answer == "-NOAU";
  } catch (const error&) {
    return false;
  }
}

bool redis_broker::impl::runs() {
  if (pid != 0 && detail::collect(pid)) pid = 0;
  return pid != 0;
}

void redis_broker::impl::require(bool is_running, const char* what) {
  if (runs() != is_running) throw error(std::string(what) + ": the broker " + (is_running ? "does not run" : "runs"));
}

void redis_broker::impl::end(int signal_number) {
  if (pid == 0) return;
  ::kill(pid, signal_number);
  ::kill(pid, SIGCONT);  // a paused process would not see SIGTERM before it goes on
  if (signal_number == SIGKILL) {
    detail::await(pid);
  } else if (!detail::await_until(pid, detail::clock::now() + options.start_timeout)) {
    return end(SIGKILL);
  }
  pid = 0;
}

redis_broker::redis_broker(const redis_broker_options& options) : impl_(std::make_unique<impl>(options)) {}

redis_broker::~redis_broker() = default;

const std::string& redis_broker::address() const { return impl_->address; }

const fs::path& redis_broker::dir() const { return impl_->files.path(); }

const std::string& redis_broker::secure_address() const {
  impl_->certificates();
  return impl_->secure_address;
}

authority& redis_broker::authority() { return impl_->certificates().signer(); }

const certificate_files& redis_broker::client_certificate() const { return impl_->certificates().client(); }

bool redis_broker::running() { return impl_->runs(); }

pid_t redis_broker::pid() { return impl_->runs() ? impl_->pid : 0; }

void redis_broker::kill() {
  impl_->require(true, "kill");
  impl_->end(SIGKILL);
}

void redis_broker::stop() {
  impl_->require(true, "stop");
  impl_->end(SIGTERM);
}

void redis_broker::start() {
  impl_->require(false, "start");
  impl_->launch();
}

void redis_broker::restart() {
  if (running()) kill();
  start();
}

void redis_broker::pause() {
  impl_->require(true, "pause");
  ::kill(impl_->pid, SIGSTOP);
}

void redis_broker::resume() {
  impl_->require(true, "resume");
  ::kill(impl_->pid, SIGCONT);
}

std::string redis_broker::log() const {
  std::ifstream file(impl_->folder() / "log", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace testcluster
