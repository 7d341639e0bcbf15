#include "command_line.hpp"

#include <CLI/CLI.hpp>

namespace guardian {

namespace {

constexpr const char* about =
    "Guards processes that use zkrecipes: when one has died, its ZooKeeper sessions are ended at once, and the records "
    "of\n"
    "the terms that it led say so. See docs/guardian.md.";

unsigned parse_mode(const std::string& text) {
  const bool is_octal = !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == text.npos;
  const auto mode = is_octal ? std::stoul(text, nullptr, 8) : 01000;
  if (mode > 0777) throw CLI::ValidationError("--mode", "expected up to 777 in octal, found \"" + text + "\"");
  return static_cast<unsigned>(mode);
}

void add_limits(CLI::App& app, limits& most) {
  const auto add = [&](const char* name, std::size_t& value, const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(1, 1'000'000'000))->capture_default_str()->group("Per user");
  };
  add("--connections", most.connections, "Connections");
  add("--sessions", most.sessions, "ZooKeeper sessions that are held");
  add("--terms", most.terms, "Terms that are held");
  add("--bytes", most.bytes, "Memory of what is held");
  add("--endings", most.endings, "Sessions that are ended at the same time");
}

}  // namespace

std::optional<invocation> parse_command_line(int argc, const char* const* argv, int& status) {
  invocation asked;
  auto& options = asked.options;
  options.socket.path = "/run/zkrecipes/guardian.sock";
  int look_every = 0;
  CLI::App app{about, "zkrecipes-guardian"};
  auto* socket = app.add_option("--socket", options.socket.path, "Where to listen")->capture_default_str();
  auto* mode = app.add_option_function<std::string>(
      "--mode", [&](const std::string& text) { options.socket.mode = parse_mode(text); },
      "Mode of the socket (default 0660)");
  auto* group = app.add_option("--group", options.socket.group, "Group of the socket");
  app.add_option("--child", asked.child, "Serve this descriptor, a Unix stream socket, instead of listening")
      ->check(CLI::Range(0, 1 << 20))
      ->excludes(socket)
      ->excludes(mode)
      ->excludes(group);
  auto* early = app.add_flag("--early-proof", options.early.after_end_of_line,
                             "After the end of a connection also take for a proof of death that all threads of the "
                             "process are exiting, or that its core is being dumped");
  app.add_option("--early-proof-every", look_every,
                 "Look for it all the time, so often (milliseconds), because a large process ends its connections late")
      ->check(CLI::Range(1, 60'000))
      ->needs(early);
  app.add_flag("--end-sessions", asked.is_ending_process, "What the guardian starts itself")->group("");
  add_limits(app, options.most);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error);
    return std::nullopt;
  }
  options.early.always = std::chrono::milliseconds(look_every);
  return asked;
}

}  // namespace guardian
