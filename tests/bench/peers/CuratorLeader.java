import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.apache.curator.framework.recipes.leader.LeaderLatch;

/**
 * A candidate that can be killed. When it leads it prints how many threads its client and its latch have added to the
 * process; it ends when it reads a line.
 */
final class CuratorLeader {
  private final String hosts;
  private final String path;

  CuratorLeader(String hosts, String path) {
    this.hosts = hosts;
    this.path = path;
  }

  Map<String, Double> run() throws Exception {
    int before = threads();
    try (ObservedClient client = ObservedClient.connect(hosts); LeaderLatch latch = new LeaderLatch(client.curator, path)) {
      latch.start();
      latch.await();
      System.out.println(threads() - before);
      new BufferedReader(new InputStreamReader(System.in)).readLine();
    }
    return Map.of();
  }

  private static int threads() {
    return ManagementFactory.getThreadMXBean().getThreadCount();
  }
}
