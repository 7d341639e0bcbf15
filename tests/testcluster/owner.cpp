// A process that owns an ensemble and waits to be killed. The ensemble is started by a thread that has ended
// by then, and with an argument one of its servers is paused: neither may keep the servers alive after their
// owner.
#include <testcluster/ensemble.hpp>

#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

int main(int argc, char**) {
  std::unique_ptr<testcluster::ensemble> cluster;
  std::thread([&] {
    cluster = std::make_unique<testcluster::ensemble>(testcluster::ensemble_options{.servers = 2});
  }).join();
  std::cout << cluster->dir().string() << " " << cluster->hosts();
  for (const auto& node : cluster->nodes()) std::cout << " " << node.pid;
  if (argc > 1) cluster->pause(1);
  std::cout << std::endl;
  while (true) ::pause();
}
