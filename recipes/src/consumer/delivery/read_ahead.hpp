// What one reader has read ahead, and how much it may ask for next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace zkrecipes::detail {

/// How much the readers of one object may read ahead together.
/// The bytes are shared equally by those that read, however many shards a process has. On the strand.
class read_share {
 public:
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;

  void join() noexcept { ++readers_; }
  void leave() noexcept { --readers_; }
  std::size_t bytes() const noexcept { return most_bytes / (readers_ > 0 ? readers_ : 1); }

 private:
  std::size_t readers_ = 0;
};

/// An answer is at most what is free of the reader's share, by the size that entries had last: two answers may be here,
/// and larger entries than before make one of them larger. The first question is for a few entries. On the strand.
class read_ahead {
 public:
  /// `most`: entries of an answer.
  read_ahead(std::shared_ptr<read_share> of, std::size_t most) : share_(std::move(of)), most_(most) {}
  ~read_ahead() { stop(); }
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;

  /// From now on it has a part of the share.
  void start() noexcept {
    if (!std::exchange(is_reading_, true)) share_->join();
  }
  /// Nothing is here any more.
  void stop() noexcept {
    if (std::exchange(is_reading_, false)) share_->leave();
    bytes_ = 0;
  }

  /// How many entries may be asked for. 0: enough is here.
  std::size_t room() const noexcept {
    if (bytes_ == 0 && entry_ == 0) return std::min(most_, first_question);
    const auto share = share_->bytes();
    if (bytes_ >= share) return 0;
    return std::clamp<std::size_t>((share - bytes_) / entry_, 1, most_);
  }
  /// An answer has so many entries, with so many bytes together.
  void on_answer(std::size_t entries, std::size_t bytes) noexcept {
    if (entries == 0) return;
    bytes_ += bytes;
    const auto mean = std::max<std::size_t>(bytes / entries, 1);
    entry_ = entry_ == 0 ? mean : (entry_ + mean) / 2;
  }
  /// These were handed out.
  void on_taken(std::size_t bytes) noexcept { bytes_ -= std::min(bytes, bytes_); }

 private:
  static constexpr std::size_t first_question = 16;

  std::shared_ptr<read_share> share_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  std::size_t entry_ = 0;  // bytes; 0: not known yet
  bool is_reading_ = false;
};

}  // namespace zkrecipes::detail
