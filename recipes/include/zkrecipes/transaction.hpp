// Several changes that happen together or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>

namespace zkrecipes {

/// One change or condition of a transaction.
struct operation {
  enum class kind { create, remove, set, check };

  kind type = kind::check;
  std::string path;
  std::string data;
  std::int32_t version = any_version;
  create_mode mode = create_mode::persistent;
  zkrecipes::acl acl;  ///< Empty: the session's default.

  friend bool operator==(const operation&, const operation&) = default;
};

/// The result of one operation. In a failed transaction one operation has the cause, and the others have `rolled_back`.
struct operation_result {
  error_code error;
  std::string path;  ///< For a create: the name given, with the sequence number.
  node_stat stat;    ///< For a set.
};

/// A list of operations, committed with `session::async_commit`.
/// Thread safety: distinct objects safe, shared objects unsafe.
class transaction {
 public:
  transaction& create(std::string path, std::string data = {}, create_mode mode = create_mode::persistent,
                      acl access = {}) {
    operations_.push_back(
        {operation::kind::create, std::move(path), std::move(data), any_version, mode, std::move(access)});
    return *this;
  }
  transaction& remove(std::string path, std::int32_t version = any_version) {
    operations_.push_back({operation::kind::remove, std::move(path), {}, version, {}, {}});
    return *this;
  }
  transaction& set(std::string path, std::string data, std::int32_t version = any_version) {
    operations_.push_back({operation::kind::set, std::move(path), std::move(data), version, {}, {}});
    return *this;
  }
  /// Fails the whole transaction unless the node exists and has this version.
  transaction& check(std::string path, std::int32_t version = any_version) {
    operations_.push_back({operation::kind::check, std::move(path), {}, version, {}, {}});
    return *this;
  }
  /// Appends an operation as it is.
  transaction& add(operation one) {
    operations_.push_back(std::move(one));
    return *this;
  }
  /// Appends all operations of another transaction.
  transaction& append(transaction other) {
    for (auto& each : other.operations_) operations_.push_back(std::move(each));
    return *this;
  }

  const std::vector<operation>& operations() const& noexcept { return operations_; }
  std::vector<operation> operations() && noexcept { return std::move(operations_); }
  bool empty() const noexcept { return operations_.empty(); }

 private:
  std::vector<operation> operations_;
};

}  // namespace zkrecipes
