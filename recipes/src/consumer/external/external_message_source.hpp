// The messages of one shard of a source of the user's: what logs and queues have in common.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/read_ahead.hpp"
#include "external/external_connection.hpp"
#include "external/held_messages.hpp"
#include "source/failed_attempts.hpp"
#include "source/log_source.hpp"

namespace zkrecipes::detail {

/// One call of the user's `receive` is under way while messages are wanted. It goes on when a wait of ours is
/// cancelled, so nothing is lost; what it brings is kept until it is received. On the strand.
class external_message_source : public log_source {
 public:
  std::string name() const final;
  std::string failure() const final { return connection_->failure(); }

  awaitable<error_code> open() final;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) final;
  /// From memory. One that has not come yet in this term may still come.
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) final;
  void set_order(message_order order) final;
  transaction moving_on(const std::vector<settlement>& batch) final;
  awaitable<void> settled(std::vector<settlement> batch) final;
  awaitable<void> close() final;

 protected:
  external_message_source(external_frame_ptr frame, std::uint32_t shard, std::string group,
                          std::unique_ptr<external_port> port);

  const external_options& options() const noexcept { return frame_->options; }
  external_connection& connection() noexcept { return *connection_; }
  const held_messages& held() const noexcept { return held_; }

 private:
  /// The record of a group that has settled nothing.
  virtual std::string first_record() const = 0;
  /// Goes on from what is stored. False: it is no record of this kind.
  virtual bool load(std::string_view record) = 0;
  /// The record when these are settled, too.
  virtual std::string record_after(const std::vector<settlement>& batch) const = 0;
  /// These messages are settled, and the record is stored.
  virtual void settle(const std::vector<settlement>& batch) = 0;
  /// A message has come that is not held. False: it was settled before.
  virtual bool admit(const std::string& id) = 0;
  virtual failed_attempts failed(const std::string& id) const = 0;
  /// Nothing is to be read before a message is settled that is in hand, because the record would become too large.
  virtual bool is_far_ahead() const { return false; }
  /// What the source has said besides messages, after all messages that came before it have been admitted.
  virtual void take_news() {}
  /// Where `external_log::open` goes on.
  virtual std::string place() const { return {}; }

  awaitable<error_code> read_record();
  awaitable<error_code> await_more(std::size_t most);
  void take_messages();
  message make_message(const external_message& what) const;

  external_frame_ptr frame_;
  std::shared_ptr<external_connection> connection_;
  condition changed_;
  held_messages held_;
  read_ahead ahead_;               // the bytes of these
  std::deque<std::string> ready_;  // the ids of those that were not handed out yet
};

}  // namespace zkrecipes::detail
