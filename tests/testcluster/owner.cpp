// A process that owns an ensemble and waits to be killed. The thread that starts the ensemble has ended by then, and
// with an argument the process pauses one of its servers: in neither case may the servers outlive their owner.
#include <iostream>
#include <memory>
#include <thread>

#include <unistd.h>

#include <testcluster/ensemble.hpp>

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
