#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace testcluster::detail {

/// The environment of an Erlang machine, which has nothing of ours but PATH. `home` has the cookie. No epmd is started:
/// the nodes find each other by address and port. Nor does the machine write a core dump, which would have secrets.
std::vector<std::string> erlang_environment(const std::filesystem::path& home);

/// That of a RabbitMQ node `name` with its files in `folder`. Nothing that the machine has configured for a broker of
/// its own is read.
std::vector<std::string> rabbit_environment(const std::filesystem::path& home, const std::filesystem::path& folder,
                                            const std::string& name, int distribution_port);

}  // namespace testcluster::detail
