#include "career/line_seat.hpp"

#include <utility>

namespace zkrecipes::detail {

line_seat::line_seat(own_node_ptr node, std::string id) : node_(std::move(node)), id_(std::move(id)) {}

awaitable<outcome<watch_ptr>> line_seat::watch_leader(const term_record&, condition&) {
  co_return outcome<watch_ptr>(error_code(), nullptr);
}

void line_seat::sign(term_record& record, const term_record&, std::int64_t) const {
  record.leader_id = id_;
  record.leader_node = node_->name();
  record.leader_token = node_->token();
}

bool line_seat::has_signed(const term_record& record) const { return record.leader_node == node_->name(); }

void line_seat::add_check(transaction& all) const { all.check(node_->path()); }

void line_seat::add_leave(transaction& all) const { all.remove(node_->path()); }

/// Writes it into our node. Only if nobody has written to the node since we created it, because any other write is a
/// request to us, such as to resign.
awaitable<void> line_seat::show_waiting() {
  const auto& session = node_->session();
  auto show = make_request(backend::opcode::set, node_->path());
  show.data = candidate_data(id_, true);
  show.version = 0;
  co_await session->perform(std::move(show), retry::once, node_->bound(), session->now() + session->options().timeout);
}

}  // namespace zkrecipes::detail
