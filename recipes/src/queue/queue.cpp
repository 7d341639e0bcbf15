#include <zkrecipes/queue.hpp>

#include <utility>

#include "queue/reader.hpp"

namespace zkrecipes {

using namespace detail;
using backend::opcode;

queue::queue(session over, std::string path) : session_(std::move(over)), path_(std::move(path)) {
  require_path("queue path", path_);
  reader_ = std::make_shared<queue_reader>(session_.get_core(), path_);
}

transaction queue::removal(const message& item) const { return transaction().remove(join(path_, item.name)); }

namespace {

awaitable<outcome<std::string>> put(core_ptr session, std::string path, std::string data) {
  if (data.size() > most_item_bytes) co_return outcome<std::string>(errc::bad_arguments, std::string());
  for (;;) {
    auto error = co_await session->wait_connected(nullptr, never);
    if (error) co_return outcome<std::string>(error, std::string());
    backend::request create;
    create.op = opcode::create;
    create.path = join(path, item_marker);
    create.data = data;
    create.mode = create_mode::persistent_sequential;
    auto result = co_await session->answer(session->send(std::move(create)));
    if (result.error == errc::no_node) {
      error = co_await session->ensure_path(path);
      if (error) co_return outcome<std::string>(error, std::string());
      continue;
    }
    if (result.error == errc::connection_loss && !result.sent) continue;
    if (result.error == errc::connection_loss) result.error = errc::outcome_unknown;
    co_return outcome<std::string>(result.error, std::string(name_of(result.path)));
  }
}

awaitable<outcome<std::size_t>> size(core_ptr session, std::string path) {
  backend::request children;
  children.op = opcode::children;
  children.path = path;
  auto listed = co_await session->perform(std::move(children), retry::always);
  co_return outcome<std::size_t>(listed.error, items_of(listed.children).size());
}

template <class... Results, class... Params, class... Args>
void start(handler_for<void(error_code, Results...)> h, std::shared_ptr<queue_reader> reader,
           awaitable<outcome<Results...>> (queue_reader::*method)(Params...), Args... args) {
  launch(*reader->session()->get_scheduler(), std::move(h), owning(reader, method, std::move(args)...));
}

}  // namespace

void queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string path,
                      std::string data) {
  launch(*core->get_scheduler(), std::move(h), put(core, std::move(path), std::move(data)));
}

void queue::start_size(handler_for<void(error_code, std::size_t)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), size(core, std::move(path)));
}

void queue::start_take(handler_for<void(error_code, message)> h, reader_ptr reader) {
  start(std::move(h), std::move(reader), &queue_reader::take);
}

void queue::start_next(handler_for<void(error_code, message)> h, reader_ptr reader) {
  start(std::move(h), std::move(reader), &queue_reader::next);
}

void queue::start_acknowledge(handler_for<void(error_code)> h, reader_ptr reader, message item) {
  start(std::move(h), std::move(reader), &queue_reader::acknowledge, std::move(item));
}

void queue::start_return(handler_for<void(error_code)> h, reader_ptr reader, message item) {
  start(std::move(h), std::move(reader), &queue_reader::give_back, std::move(item));
}

}  // namespace zkrecipes
