// The seat of a leader that was elected: its node is the first in the line of candidates.
#pragma once

#include <string>

#include "career/term_seat.hpp"
#include "line/own_node.hpp"

namespace zkrecipes::detail {

class line_seat final : public term_seat {
 public:
  /// `id`: the name under which the candidate stands for election. The record is the data of the line's parent.
  line_seat(own_node_ptr node, std::string id);

  const core_ptr& session() const noexcept override { return node_->session(); }
  const std::string& record_path() const noexcept override { return node_->line().parent; }
  std::string node_path() const override { return node_->path(); }
  error_code lost() const override { return node_->lost(); }
  lease_clock::time_point valid_until() const override { return node_->valid_until(); }

  const incarnation_ptr& bound() const noexcept override { return node_->bound(); }
  bool revoked() const override { return node_->revoked(); }
  condition& changed() noexcept override { return node_->changed(); }
  awaitable<outcome<>> wait_lost() override { return node_->wait_lost(); }
  awaitable<outcome<>> wait_revoked() override { return node_->wait_revoked(); }

  /// It has gone: we are the first in line now.
  awaitable<outcome<watch_ptr>> watch_leader(const term_record& of, condition& tell) override;
  void sign(term_record& record, const term_record& before, std::int64_t before_ms) const override;
  bool keeps_history() const override { return true; }
  error_code objection(const term_record&) override { return {}; }
  void note_begun(term_record&, std::int64_t, std::int64_t) override {}
  bool has_signed(const term_record& record) const override;
  void add_check(transaction& all) const override;
  void add_leave(transaction& all) const override;
  awaitable<void> show_waiting() override;

  awaitable<outcome<>> leave() override { return node_->leave(); }
  void disown() override { node_->disown(); }
  void clear_away(bool all) override { node_->clear_away(all); }

 private:
  own_node_ptr node_;
  std::string id_;
};

}  // namespace zkrecipes::detail
