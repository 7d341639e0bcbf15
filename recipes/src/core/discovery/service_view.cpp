#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "discovery/service_snapshot.hpp"
#include "group/children_reader.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<service_snapshot>> current(children_reader_ptr reader) {
  auto seen = co_await reader->current();
  auto& [error, nodes] = seen;
  co_return outcome<service_snapshot>(error, interpret(nodes));
}

awaitable<outcome<service_change>> change(children_reader_ptr reader, children_snapshot seen) {
  auto changed = co_await reader->change(seen);
  auto& [error, nodes] = changed;
  if (error) co_return outcome<service_change>(error, service_change());
  co_return outcome<service_change>(error, interpret(seen, nodes.now));
}

}  // namespace

void service_view::start_current(handler_for<void(error_code, service_snapshot)> h, reader_ptr reader) {
  launch(*reader->get_scheduler(), std::move(h), current(reader));
}

void service_view::start_change(handler_for<void(error_code, service_change)> h, reader_ptr reader,
                                children_snapshot seen) {
  launch(*reader->get_scheduler(), std::move(h), change(reader, std::move(seen)), persistence::endless);
}

}  // namespace zkrecipes
