#include "conversation.hpp"

#include <utility>
#include <variant>

namespace guardian {

namespace backend = zkrecipes::backend;
using kind = backend::guardian_answer::kind;

conversation::conversation(registry& known, event_log& log, const peer& with, std::uint64_t number, process_line& line)
    : known_(known), log_(log), with_(with), number_(number), line_(line) {}

conversation::~conversation() {
  if (process_) known_.detach(process_, line_);
}

conversation::answer conversation::hear(std::string_view line, std::vector<descriptor> passed) {
  auto read = backend::parse_guardian_message(line);
  if (!read.message) return refuse(std::move(read.problem));
  auto* hello = std::get_if<backend::guardian_hello>(&*read.message);
  if (!process_) return hello ? begin(std::move(*hello), std::move(passed)) : refuse("the first message is no hello");
  if (!passed.empty()) return refuse("a descriptor came with a message other than the first");
  return std::visit([this](auto& each) { return on(std::move(each)); }, *read.message);
}

conversation::answer conversation::begin(backend::guardian_hello hello, std::vector<descriptor> passed) {
  if (passed.size() != 1) return refuse("hello has to come with one descriptor, the pidfd of the process");
  auto admitted = known_.admit(std::move(passed.front()), with_);
  if (!admitted.process) return refuse(std::move(admitted.problem));
  hello_ = std::move(hello);
  process_ = std::move(admitted.process);
  known_.attach(process_, line_);
  log_.write_for(with_.user, "process",
                 {{"pid", std::to_string(process_->who().pid)},
                  {"name", process_->name()},
                  {"peer", std::to_string(with_.pid)},
                  {"gid", std::to_string(with_.group)},
                  {"hang_limit_ms", std::to_string(hello_.hang_limit.count())}});
  return std::nullopt;
}

conversation::answer conversation::on(backend::guardian_hello) { return refuse("hello came twice"); }

conversation::answer conversation::on(backend::guarded_session what) {
  return full(process_->add(std::move(what), hello_.client, number_));
}

conversation::answer conversation::on(backend::guarded_session_end what) {
  process_->remove(what, hello_.client, number_);
  return std::nullopt;
}

conversation::answer conversation::on(backend::guarded_term what) {
  return full(process_->add(std::move(what), number_));
}

conversation::answer conversation::on(backend::guarded_term_end what) {
  process_->remove(what, hello_.client, number_);
  return std::nullopt;
}

conversation::answer conversation::on(backend::guardian_complete) {
  return backend::guardian_answer{kind::held, {}, process_->keep_only(hello_.client, number_)};
}

conversation::answer conversation::on(backend::guardian_ping) { return std::nullopt; }

conversation::answer conversation::refuse(std::string why) {
  log_.write_for(with_.user, "refused", {{"peer", std::to_string(with_.pid)}, {"reason", why}});
  return backend::guardian_answer{kind::refused, std::move(why)};
}

/// Told to the log once for each connection.
conversation::answer conversation::full(std::string why) {
  if (why.empty()) return std::nullopt;
  if (!std::exchange(told_full_, true)) {
    log_.write_for(with_.user, "full", {{"peer", std::to_string(with_.pid)}, {"reason", why}});
  }
  return backend::guardian_answer{kind::full, std::move(why)};
}

}  // namespace guardian
