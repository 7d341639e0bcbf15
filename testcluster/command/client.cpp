#include "client.hpp"

#include <chrono>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "connection.hpp"
#include "descriptor.hpp"
#include "place.hpp"

namespace testcluster::command {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace json = boost::json;
using boost::system::error_code;
using local = asio::local::stream_protocol;

// Longer than the slowest request, a restart: it waits at most for start_timeout (30 s) until the server has stopped,
// and for the same time until it serves.
constexpr std::chrono::seconds time_limit{90};

error silent(const fs::path& dir) {
  return error("the supervisor of " + dir.string() +
               " does not answer; end it with SIGKILL if it hangs: its servers end "
               "with it");
}

void connect(local::socket& socket, const fs::path& dir) {
  switch (examine(dir)) {
    case condition::none: throw error("no cluster is up in " + dir.string());
    case condition::foreign: throw foreign_record(dir);
    case condition::stale:
      throw error("the supervisor of the cluster in " + dir.string() +
                  " is gone; remove what is left with: testcluster down "
                  "--dir " +
                  dir.string());
    case condition::live: break;
  }
  error_code failed;
  socket.connect(local::endpoint(socket_of(dir).string()), failed);
  if (failed) throw error("the cluster in " + dir.string() + " is not ready yet, or just ending");
  detail::close_on_exec(socket.native_handle());
}

void send(local::socket& socket, const json::object& request) {
  asio::write(socket, asio::buffer(json::serialize(request) + "\n"));
}

}  // namespace

json::object ask(const fs::path& dir, const json::object& request) {
  asio::io_context io;
  local::socket socket(io);
  connect(socket, dir);
  send(socket, request);
  std::string reply;
  asio::async_read(socket, asio::dynamic_buffer(reply), [](error_code, std::size_t) {});
  io.run_for(time_limit);
  if (!io.stopped()) {
    socket.close();
    io.run();
    throw silent(dir);
  }
  if (reply.empty()) throw error("the supervisor of " + dir.string() + " ended before it answered");
  const auto answer = json::parse(reply).as_object();
  if (const auto* problem = answer.if_contains("error")) throw error(std::string(problem->as_string()));
  return answer.at("ok").as_object();
}

void end_supervisor(const fs::path& dir) {
  asio::io_context io;
  local::socket socket(io);
  connect(socket, dir);
  ucred peer{};
  socklen_t size = sizeof peer;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  const detail::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  send(socket, {{"command", "down"}});
  pollfd gone{process.get(), POLLIN, 0};
  const auto milliseconds = std::chrono::milliseconds(time_limit).count();
  if (!process || ::poll(&gone, 1, static_cast<int>(milliseconds)) != 1) throw silent(dir);
}

}  // namespace testcluster::command
