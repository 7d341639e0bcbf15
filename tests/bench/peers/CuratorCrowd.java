import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * Many threads that wait for one lock. The program that runs this one counts at the servers what a release costs. We
 * print "ready", hand the lock on as many times as a line on standard input says, and print "done".
 */
final class CuratorCrowd {
  private static final int PATIENCE = 60;

  private final ObservedClient client;
  private final String path;
  private final BlockingQueue<CountDownLatch> owners = new LinkedBlockingQueue<>();

  CuratorCrowd(ObservedClient client, String path) {
    this.client = client;
    this.path = path;
  }

  Map<String, Double> run(int waiting) throws Exception {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    CountDownLatch owner = gather(waiting);
    System.out.println("ready");
    hand_on(owner, Integer.parseInt(commands.readLine()));
    System.out.println("done");
    commands.readLine();
    return Map.of();
  }

  private CountDownLatch gather(int waiting) throws Exception {
    client.forget_answers();
    join();
    CountDownLatch owner = next();
    for (int i = 0; i < waiting; i++) {
      join();
    }
    for (int i = 0; i < waiting; i++) {
      client.await_answer("GetData");  // it has set the watch on its predecessor: from here on it only waits
    }
    return owner;
  }

  private void hand_on(CountDownLatch first, int times) throws InterruptedException {
    CountDownLatch owner = first;
    for (int i = 0; i < times; i++) {
      owner.countDown();
      owner = next();
    }
  }

  private CountDownLatch next() throws InterruptedException {
    CountDownLatch owner = owners.poll(PATIENCE, SECONDS);
    if (owner == null) {
      throw new IllegalStateException("nobody got the lock within " + PATIENCE + " s");
    }
    return owner;
  }

  private void join() {
    Thread thread = new Thread(null, this::take_turn, "waiting", 1 << 18);
    thread.setDaemon(true);
    thread.start();
  }

  private void take_turn() {
    InterProcessMutex lock = new InterProcessMutex(client.curator, path);
    CountDownLatch release = new CountDownLatch(1);
    try {
      lock.acquire();
      owners.add(release);
      release.await();
      lock.release();
    } catch (Exception e) {
      // Either the measurement is over and the client is closed, or next() reports that an owner is missing.
    }
  }
}
