#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>

#include "scenario/coordinator.hpp"
#include "scenario/operations.hpp"
#include "scenario/reviver.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

/// Puts 1, 2, 3 ... After a restart it goes on behind the last number that the queue has from it.
class filler final : public program {
 public:
  filler(consumers& of, stage& in, session with)
      : in_(in),
        chance_(in.what().seed, 300 + producing_client),
        operations_(in, producing_client),
        zk_(std::make_unique<session>(with)),
        producer_(std::make_unique<producer>(queue(with, service::queue_path), "filler")),
        one_(in, 0, queue(with, service::queue_path), operations_, of.revivals),
        other_(in, 1, queue(with, service::queue_path), operations_, of.revivals) {
    begin();
  }

  void cancel(asio::cancellation_type) override {}
  void stop() override {
    stopping_ = true;
    one_.stop();
    other_.stop();
  }
  bool idle() const override { return operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_->async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return {}; }

 private:
  void begin() {
    operations_.start<std::uint64_t>([this](auto token) { producer_->async_last(std::move(token)); },
                                     [this](error_code error, std::uint64_t last) {
                                       if (stopping_) return;
                                       if (error) return in_.later(producing_client, 100ms, [this] { begin(); });
                                       next_ = last + 1;
                                       put();
                                     });
  }

  void put() {
    if (stopping_) return;
    operations_.start<std::uint64_t>(
        [this](auto token) { producer_->async_put(std::to_string(next_), std::move(token)); },
        [this](error_code error, std::uint64_t number) {
          if (error) return in_.later(producing_client, 100ms, [this] { begin(); });
          in_.require(number == next_, "the number of a message is known", std::to_string(number));
          ++next_;
          in_.later(producing_client, chance_.between(50ms, 1500ms), [this] { put(); });
        });
  }

  stage& in_;
  chance chance_;
  operations operations_;
  std::unique_ptr<session> zk_;
  std::unique_ptr<producer> producer_;
  reviver one_;  // two operators, who can revive the same key at the same time
  reviver other_;
  std::uint64_t next_ = 1;
  bool stopping_ = false;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<program> make_filler(consumers& of, stage& in, session with) {
  return std::make_unique<filler>(of, in, std::move(with));
}

}  // namespace zkrecipes::simulation
