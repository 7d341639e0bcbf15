// A service of several replicas. docs/service.md shows how to build, configure and run it.
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "configuration.hpp"
#include "configuration_error.hpp"
#include "json_log.hpp"
#include "program.hpp"

namespace {

struct command_line {
  std::string file{};
  service::overrides given{};
};

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::optional<command_line> parse(int count, char** arguments) {
  command_line result;
  for (int i = 1; i < count; ++i) {
    const std::string_view each = arguments[i];
    const bool more = i + 1 < count;
    if (each == "--id" && more && *arguments[i + 1])
      result.given.id = arguments[++i];
    else if (each == "--port" && more && (result.given.port = port_of(arguments[i + 1])))
      ++i;
    else if (result.file.empty() && !each.starts_with('-'))
      result.file = each;
    else
      return std::nullopt;
  }
  return result.file.empty() ? std::nullopt : std::make_optional(result);
}

/// Throws `configuration_error` if the library refuses a setting. Other failures, such as a port that is taken, are
/// logged and thrown on.
std::unique_ptr<service::program> make_program(boost::asio::io_context& io, const std::string& file,
                                               const service::configuration& settings, service::json_log& log) {
  try {
    return std::make_unique<service::program>(io, settings, log);
  } catch (const std::invalid_argument& refusal) {
    throw service::configuration_error(file + ": " + refusal.what());
  } catch (const std::exception& failure) {
    log.error("not_started", {{"detail", failure.what()}});
    throw;
  }
}

service::exit_code run(const command_line& given) {
  const auto settings = service::load_configuration(given.file, given.given);
  service::json_log log(std::cout, settings.log_level);
  boost::asio::io_context io(1);
  const auto program = make_program(io, given.file, settings, log);
  program->start();
  try {
    io.run();
  } catch (const std::exception& failure) {
    log.error("crashed", {{"detail", failure.what()}});
    std::_Exit(static_cast<int>(service::exit_code::failed));
  }
  // Operations that have not ended use the objects, so these are not destroyed.
  if (program->result() == service::exit_code::cut_off) std::_Exit(static_cast<int>(program->result()));
  return program->result();
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the log can end
  const auto given = parse(count, arguments);
  if (!given) {
    std::cerr << "usage: service CONFIGURATION [--id ID] [--port PORT]\n";
    return static_cast<int>(service::exit_code::misused);
  }
  try {
    return static_cast<int>(run(*given));
  } catch (const service::configuration_error& mistake) {
    std::cerr << mistake.what() << std::endl;
    return static_cast<int>(service::exit_code::misused);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
    return static_cast<int>(service::exit_code::failed);
  }
}
