import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** A recipe at which a worker takes turns, chosen by the name that the tests give it. */
interface Turn {
  int PATIENCE = 30;

  void acquire() throws Exception;

  void release() throws Exception;

  static Turn of(String kind, CuratorFramework client, String path, String name) {
    return switch (kind) {
      case "mutex" -> new Locked(new InterProcessMutex(client, path));
      case "read" -> new Locked(new InterProcessReadWriteLock(client, path).readLock());
      case "write" -> new Locked(new InterProcessReadWriteLock(client, path).writeLock());
      case "latch" -> new Latched(client, path, name);
      case "selector" -> new Selected(client, path, name);
      default -> throw new IllegalArgumentException("no such kind: " + kind);
    };
  }

  private static void require(boolean in_time) {
    if (!in_time) {
      throw new IllegalStateException("no turn within " + PATIENCE + " s");
    }
  }

  record Locked(InterProcessLock lock) implements Turn {
    @Override
    public void acquire() throws Exception {
      require(lock.acquire(PATIENCE, SECONDS));
    }

    @Override
    public void release() throws Exception {
      lock.release();
    }
  }

  /** A latch leads until it is closed, and can not be used again. */
  final class Latched implements Turn {
    private final CuratorFramework client;
    private final String path;
    private final String name;
    private LeaderLatch latch;

    Latched(CuratorFramework client, String path, String name) {
      this.client = client;
      this.path = path;
      this.name = name;
    }

    @Override
    public void acquire() throws Exception {
      latch = new LeaderLatch(client, path, name);
      latch.start();
      require(latch.await(PATIENCE, SECONDS));
    }

    @Override
    public void release() throws Exception {
      latch.close();
    }
  }

  /** A selector leads until its listener returns. */
  final class Selected extends LeaderSelectorListenerAdapter implements Turn {
    private final CuratorFramework client;
    private final String path;
    private final String name;
    private LeaderSelector selector;
    private CountDownLatch leading;
    private CountDownLatch done;
    private CountDownLatch returned;

    Selected(CuratorFramework client, String path, String name) {
      this.client = client;
      this.path = path;
      this.name = name;
    }

    @Override
    public void acquire() throws Exception {
      leading = new CountDownLatch(1);
      done = new CountDownLatch(1);
      returned = new CountDownLatch(1);
      selector = new LeaderSelector(client, path, this);
      selector.setId(name);
      selector.start();
      require(leading.await(PATIENCE, SECONDS));
    }

    @Override
    public void takeLeadership(CuratorFramework leader) throws Exception {
      leading.countDown();
      done.await();
      returned.countDown();
    }

    @Override
    public void release() throws Exception {
      done.countDown();
      require(returned.await(PATIENCE, SECONDS));
      selector.close();  // this waits until its node has gone
    }
  }
}
